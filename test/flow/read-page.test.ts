import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Shop</title><h1>Basket</h1><p>Total: <b>12.50</b> for 3 items</p><ul><li>Tea</li><li>Bread</li></ul>
    <button id=buy style="color: rgb(1, 2, 3); --accent: teal">Buy tea</button><button id=off disabled>Remove</button>
    <input id=q value=green><input id=secret type=password value=hunter2><input type=checkbox id=terms checked>
    <select id=size><option value=s>Small<option value=l selected>Large</select>
    <form><label id=named for=tags>Tags</label><select id=tags multiple><option value=a selected>A<option value=b>B<option value=c selected>C</select></form>
    <select id=empty multiple><option>A</select><div id=gone hidden>Basket</div>
    <div role=checkbox aria-checked=true id=aria tabindex=0>Aria</div><div id=host></div>
    <iframe id=inner srcdoc="<p>Basket of the frame</p><input id=in value=deep>"></iframe>
    <script>host.attachShadow({ mode: 'open' }).innerHTML = '<button id=shadow>Shadow basket</button>'</script>`,
  '/log': `<!doctype html><script>
    console.log('first', 1); console.warn('careful'); console.error('broken')
    setTimeout(() => { window.thrown = true; throw new Error('uncaught') })</script>`,
}

inUsualHomes(pages, (given) => {
  test('get_url, get_value and get_html read the page, frames and shadow roots', async () => {
    await given.open('/')
    expect(await given.value('get_url')).toBe(given.url('/'))
    expect(await given.value('get_value', { selector: '#q' })).toBe('green')
    expect(await given.value('get_value', { selector: '#size' })).toBe('l')
    expect(await given.value('get_value', { selector: 'frame=#inner >> #in' })).toBe('deep')
    expect(await given.value('get_html', { selector: '#shadow' })).toBe('<button id="shadow">Shadow basket</button>')
    expect(await given.value('get_html', { selector: 'ul', inner: true })).toBe('<li>Tea</li><li>Bread</li>')
    expect(await given.value('get_html')).toMatch(/^<!DOCTYPE html><html>.*<\/html>$/s)
    expect(await given.fails('get_value', { selector: 'h1', timeout_ms: 700 })).toMatchObject({
      code: 'not_editable',
      error: 'h1 has no value: it is not a form field',
    })
    expect(await given.fails('get_html', { selector: '#none', timeout_ms: 700 })).toMatchObject({
      code: 'element_not_found',
    })
  })

  test('a list of several options has the values of all that are selected', async () => {
    await given.open('/')
    for (const selector of ['#tags', '#named', 'css=#tags >> visible=true', 'label="Tags"'])
      expect(await given.value('get_value', { selector })).toEqual(['a', 'c'])
    expect(await given.value('get_value', { selector: '#empty' })).toEqual([])
    await given.do('verify', { selector: '#tags', value: 'a, c' })
    expect(JSON.stringify(await given.do('get_content', { kind: 'json' }))).toContain('"value":"a, c"')
  })

  test('count_elements counts without waiting', async () => {
    await given.open('/')
    expect(await given.value('count_elements', { selector: 'li' })).toBe(2)
    expect(await given.value('count_elements', { selector: '#none' })).toBe(0)
    expect(await given.value('count_elements', { selector: 'frame=#inner >> p' })).toBe(1)
    expect(await given.fails('count_elements', { selector: '[[' })).toMatchObject({ code: 'invalid_selector' })
  })

  test('get_styles returns computed styles', async () => {
    await given.open('/')
    const properties = ['color', '--accent', 'no-such']
    expect(await given.value('get_styles', { selector: '#buy', properties })).toEqual({
      color: 'rgb(1, 2, 3)',
      '--accent': 'teal',
      'no-such': '',
    })
    expect(await given.value('get_styles', { selector: '#buy' })).toMatchObject({ display: 'inline-block' })
  })

  test('get_state reports one state, or all', async () => {
    await given.open('/')
    const is = (state: string, selector: string) => given.value('get_state', { selector, state })
    expect(await is('visible', '#buy')).toBe(true)
    expect(await is('visible', '#gone')).toBe(false)
    expect(await is('visible', '#none')).toBe(false)
    expect(await is('hidden', '#none')).toBe(true)
    expect(await is('enabled', '#off')).toBe(false)
    expect(await is('checked', '#terms')).toBe(true)
    expect(await is('checked', '#aria')).toBe(true)
    expect(await is('editable', '#q')).toBe(true)
    await given.do('focus', { selector: '#shadow' })
    expect(await is('focused', '#shadow')).toBe(true)
    expect(await given.value('get_state', { selector: '#off' })).toEqual({
      visible: true,
      hidden: false,
      enabled: false,
      disabled: true,
      checked: null,
      editable: false,
      focused: false,
      in_viewport: true,
    })
    expect(await given.fails('get_state', { selector: '#buy', state: 'checked', timeout_ms: 700 })).toMatchObject({
      code: 'not_editable',
      error: '#buy is not a checkbox or radio button',
    })
    expect(await given.fails('get_state', { selector: '#none', timeout_ms: 700 })).toMatchObject({
      code: 'element_not_found',
    })
  })

  test('find_text finds names and texts with references that selectors accept', async () => {
    await given.open('/')
    const before = await given.client().observe({ session_id: given.sessionId() })
    const earlier = before.elements!.find(({ name }) => name === 'Buy tea')!.ref
    const found = (await given.value('find_text', { text: 'BASKET' })) as { text: string; role: string; ref: string }[]
    expect(found.map(({ text, role }) => `${role} ${text}`)).toEqual([
      'heading Basket',
      'button Shadow basket',
      expect.stringContaining('Basket of the frame'),
    ])
    for (const { ref, text } of found)
      expect(await given.value('get_text', { selector: `@${ref}` })).toContain(text.slice(0, 6))
    expect(await given.value('get_text', { selector: `ref=${earlier}` })).toBe('Buy tea')
    const limited = await given.do('find_text', { text: 'tea|BREAD', regex: true, limit: 1 })
    expect(limited).toMatchObject({ total: 1, result: { value: [{ text: expect.stringMatching(/tea/) }] } })
    expect(await given.value('find_text', { text: '(?i)total: \\d+', regex: true })).toHaveLength(1)
    expect(await given.value('find_text', { text: 'Tea', selector: 'ul' })).toHaveLength(1)
    expect(await given.value('find_text', { text: 'nothing like this' })).toEqual([])
    expect(await given.value('find_text', { text: 'hunter2' })).toEqual([])
  })

  test('find_text refuses an expression that could take forever, and a missing element', async () => {
    await given.open('/')
    expect(await given.fails('find_text', { text: '(a)\\1', regex: true })).toMatchObject({ code: 'invalid_data' })
    expect(await given.value('find_text', { text: '(a+a+)+zz$', regex: true })).toEqual([])
    expect(await given.fails('find_text', { text: 'a', selector: '#none' })).toMatchObject({
      code: 'element_not_found',
    })
  })

  test('get_console and get_errors read the log, and clear it on request', async () => {
    await given.do('get_console', { clear: true })
    await given.do('get_errors', { clear: true })
    await given.open('/log')
    await given.do('wait_for', { function: 'window.thrown' })
    expect(await given.value('get_console')).toMatchObject([
      { level: 'log', text: 'first 1', url: given.url('/log'), line: 2 },
      { level: 'warning', text: 'careful' },
      { level: 'error', text: 'broken' },
    ])
    expect(await given.value('get_console', { level: 'error' })).toHaveLength(1)
    expect(await given.do('get_console', { limit: 1 })).toMatchObject({
      omitted: 2,
      result: { value: [{ text: 'broken' }] },
    })
    expect(await given.value('get_errors')).toMatchObject([{ message: 'uncaught' }])
    await given.do('get_console', { clear: true })
    expect(await given.value('get_console')).toEqual([])
    expect(await given.value('get_errors', { clear: true })).toHaveLength(1)
    expect(await given.value('get_errors')).toEqual([])
  })
})
