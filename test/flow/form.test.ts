import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const fields = `<input id=q><input id=off disabled><input type=checkbox id=terms><input type=radio name=r id=r1><input type=radio name=r id=r2>
  <select id=country><option value=de>Germany</option><option value=fr>France</option></select>
  <select id=sizes><option>S</option><option disabled>M</option></select>
  <select id=many multiple><option>a</option><option>b</option><option>c</option></select><p id=text>Text</p>`
const pages = {
  '/': `<!doctype html>${fields}<div id=host></div><iframe id=inner src=/inner></iframe>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<input type=checkbox id=shadow>'</script>`,
  '/inner': `<!doctype html>${fields}`,
}

inUsualHomes(pages, (given) => {
  const checked = (selector: string) => given.value('evaluate_on_element', { selector, expression: 'this.checked' })

  test('focus focuses an element', async () => {
    await given.open('/')
    await given.do('focus', { selector: '#q' })
    expect(await given.evaluate('document.activeElement.id')).toBe('q')
    await given.do('focus', { selector: '#shadow' })
    expect(await given.evaluate('document.activeElement.shadowRoot.activeElement.id')).toBe('shadow')
  })

  test('focus fails for an element that cannot be focused', async () => {
    await given.open('/')
    expect(await given.fails('focus', { selector: '#off' })).toMatchObject({
      code: 'action_failed',
      error: expect.stringContaining('#off cannot be focused'),
    })
  })

  test('check checks checkboxes and radio buttons, and leaves checked ones alone', async () => {
    await given.open('/')
    for (const selector of ['#terms', '#terms', '#r1', '#r2', '#shadow', 'frame=#inner >> #terms']) {
      await given.do('check', { selector })
      expect(await checked(selector)).toBe(true)
    }
    expect(await checked('#r1')).toBe(false)
    expect(await given.fails('check', { selector: '#text' })).toMatchObject({
      code: 'not_editable',
      error: '#text is not a checkbox or radio button',
    })
  })

  test('select_option selects by value or label, one or several', async () => {
    await given.open('/')
    expect(await given.do('select_option', { selector: '#country', values: ['France'] })).toEqual({ selected: ['fr'] })
    expect(await given.do('select_option', { selector: '#country', values: ['de'] })).toEqual({ selected: ['de'] })
    expect(await given.do('select_option', { selector: '#many', values: ['a', 'c'] })).toEqual({ selected: ['a', 'c'] })
    const inFrame = { selector: 'frame=#inner >> #country', values: ['fr'] }
    expect(await given.do('select_option', inFrame)).toEqual({ selected: ['fr'] })
  })

  test('select_option lists the options when one is missing, and names a disabled one', async () => {
    await given.open('/')
    const missing = await given.fails('select_option', { selector: '#country', values: ['Italy'], timeout_ms: 3000 })
    expect(missing).toMatchObject({
      code: 'element_not_found',
      error: '#country has no such option; it has: de (Germany), fr (France)',
      details: { options: ['de (Germany)', 'fr (France)'] },
    })
    const disabled = await given.fails('select_option', { selector: '#sizes', values: ['M'], timeout_ms: 3000 })
    expect(disabled).toMatchObject({ code: 'not_editable', error: '#sizes has this option, but it is disabled' })
    expect(await given.fails('select_option', { selector: '#q', values: ['x'] })).toMatchObject({
      code: 'not_editable',
      error: '#q is not a select element',
    })
  })
})
