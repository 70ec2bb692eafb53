import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Shop</title><h1>Basket</h1><p id=total>Total: <b>12.50</b></p><ul><li>Tea</li><li>Brown  bread</li></ul>
    <input id=q value=green><input type=checkbox id=terms><button id=off disabled>Off</button><p id=gone hidden>Gone</p>
    <iframe id=inner srcdoc="<p id=in>In the frame</p>"></iframe>
    <script>setTimeout(() => document.querySelector('h1').textContent = 'Your basket', 300)</script>`,
}

inUsualHomes(pages, (given) => {
  const mismatch = (data: Record<string, unknown>) => given.fails('verify', { timeout_ms: 700, ...data })

  test('verify of a list compares with any number of matches', async () => {
    await given.open('/')
    await given.evaluate(`document.querySelector('ul').innerHTML = '<li>x'.repeat(20_000)`)
    const failed = await mismatch({ selector: 'li', list: ['x', 'x'] })
    expect(failed.code).toBe('expectation_failed')
    expect((failed.details as { actual: string[] }).actual).toHaveLength(100)
  })

  test('verify passes when everything matches, and waits for it', async () => {
    await given.open('/')
    await given.do('verify', { selector: 'h1', text: 'your basket' })
    await given.do('verify', { selector: '#total' })
    await given.do('verify', { selector: '#total', text: 'Total: 12.50', count: 1 })
    await given.do('verify', { text: 'In the frame' })
    await given.do('verify', { selector: 'frame=#inner >> #in', state: 'visible' })
    await given.do('verify', { selector: '#q', value: 'green' })
    await given.do('verify', { selector: 'ul', list: ['Tea', 'Brown bread'] })
    await given.do('verify', { selector: 'li', list: ['Tea', 'Brown bread'], count: 2 })
    await given.do('verify', { selector: '#off', state: 'disabled' })
    await given.do('verify', { selector: '#terms', state: 'unchecked' })
    await given.do('verify', { selector: '#none', state: 'hidden' })
    await given.do('verify', { url: '**/', title: 'Shop' })
  })

  test.each([
    [{ selector: '#gone' }, 'expected #gone to be "visible", but it is hidden'],
    [{ selector: '#none' }, 'expected #none to be "visible", but no element matches'],
    [{ selector: '#total', text: '13' }, 'expected #total to contain "13", but it is "Total: 12.50"'],
    [{ selector: '#q', value: 'red' }, 'expected #q to have the value "red", but it is "green"'],
    [{ selector: 'li', list: ['Tea'] }, 'expected li to list ["Tea"], but it is ["Tea","Brown bread"]'],
    [{ selector: 'li', count: 3 }, 'expected li to match this many elements: 3, but 2 match'],
    [{ title: 'Other' }, 'expected the page to have the title "Other", but it is "Shop"'],
    [
      { selector: '#terms', state: 'checked' },
      'expected #terms to be "checked", but it is visible, enabled, editable, in_viewport',
    ],
  ])('verify of %j fails with the expected and the actual value', async (data, error) => {
    await given.open('/')
    const failed = await mismatch(data)
    expect(failed).toMatchObject({ code: 'expectation_failed', error })
    expect(failed.details).toHaveProperty('expected')
    expect(failed.details).toHaveProperty('actual')
  })

  test('verify reports the text of a page without the expected one', async () => {
    await given.open('/')
    const { error } = await mismatch({ text: 'Sold out' })
    expect(error).toMatch(/^expected the page to contain "Sold out", but http.* shows "(?:Your b|B)asket/)
  })

  test('verify refuses what it cannot verify', async () => {
    await given.open('/')
    expect(await mismatch({ selector: '[[' })).toMatchObject({ code: 'invalid_selector' })
    await expect(given.run([['verify', {}]])).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(given.run([['verify', { value: 'a' }]])).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
