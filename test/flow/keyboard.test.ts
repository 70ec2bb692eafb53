import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><input id=q value=abc><textarea id=area></textarea><div id=rich contenteditable>Hi</div>
    <input id=date type=date><input id=file type=file><input id=num type=number value=4><button id=b>Button</button><input id=off disabled><input id=fixed readonly value=same>
    <div id=host></div><iframe id=inner srcdoc="<input id=in>"></iframe>
    <script>
      document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<input id=shadow>'
      window.keys = []
      document.addEventListener('keydown', (event) => keys.push(event.key), true)
    </script>`,
}

inUsualHomes(pages, (given) => {
  const held = (selector: string) => given.value('get_text', { selector })

  test('type_text appends to the value of a field, key by key', async () => {
    await given.open('/')
    await given.do('type_text', { selector: '#q', text: 'dé 😀', clear: false })
    expect(await held('#q')).toBe('abcdé 😀')
    expect(await given.evaluate('keys')).toEqual(expect.arrayContaining(['d', ' ']))
    await given.do('type_text', { selector: '#rich', text: ' there', clear: false })
    expect(await held('#rich')).toBe('Hi there')
    await given.do('type_text', { selector: '#num', text: '2', clear: true })
    expect(await held('#num')).toBe('2')
  })

  test('type_text clears the field first on request, and sends line breaks as Enter', async () => {
    await given.open('/')
    await given.do('type_text', { selector: '#q', text: 'new', clear: true })
    expect(await held('#q')).toBe('new')
    await given.do('type_text', { selector: '#area', text: 'one\ntwo', clear: false })
    expect(await held('#area')).toBe('one\ntwo')
    expect(await given.evaluate('keys.includes("Enter")')).toBe(true)
  })

  test('type_text reaches shadow roots, iframes and composed fields', async () => {
    await given.open('/')
    await given.do('type_text', { selector: '#shadow', text: 'deep', clear: false })
    expect(await held('#shadow')).toBe('deep')
    await given.do('type_text', { selector: 'frame=#inner >> #in', text: 'inside', clear: false })
    expect(await held('frame=#inner >> #in')).toBe('inside')
    await given.do('type_text', { selector: '#date', text: '2024-02-29', clear: false })
    expect(await held('#date')).toBe('2024-02-29')
  })

  test('type_text and clear reject elements that are not editable, with the reason', async () => {
    await given.open('/')
    const fail = (command: string, selector: string) =>
      given.fails(command, { selector, timeout_ms: 700, ...(command === 'type_text' && { text: 'x', clear: true }) })
    for (const command of ['type_text', 'clear']) {
      expect(await fail(command, '#off')).toMatchObject({ code: 'not_editable', error: '#off is disabled (input#off)' })
      expect(await fail(command, '#fixed')).toMatchObject({
        code: 'not_editable',
        error: '#fixed is read-only (input#fixed)',
      })
      expect(await fail(command, '#b')).toMatchObject({ code: 'not_editable' })
    }
    expect(await fail('clear', '#file')).toMatchObject({ code: 'not_editable' })
  })

  test('type_text types a long text completely', async () => {
    await given.open('/')
    const text = 'lorem ipsum '.repeat(100)
    await given.do('type_text', { selector: '#area', text, clear: false })
    expect(await held('#area')).toBe(text)
  })

  test('clear clears a field', async () => {
    await given.open('/')
    await given.do('clear', { selector: '#q' })
    expect(await held('#q')).toBe('')
    await given.do('clear', { selector: '#rich' })
    expect(((await held('#rich')) as string).trim()).toBe('')
  })

  test('press_key presses keys and combinations by their common names', async () => {
    await given.open('/')
    await given.do('press_key', { selector: '#q', key: 'Control+A' })
    await given.do('press_key', { selector: '#q', key: 'x' })
    expect(await held('#q')).toBe('x')
    for (const key of ['esc', 'ctrl+shift+k', 'Enter', '+', 'ArrowDown', 'Control++'])
      await given.do('press_key', { selector: '#q', key })
    const keys = await given.evaluate('keys')
    expect(keys).toEqual(expect.arrayContaining(['Escape', 'Shift', 'Enter', '+', 'ArrowDown']))
  })

  test('press_key reports an unknown key', async () => {
    await given.open('/')
    const { code, error } = await given.fails('press_key', { selector: '#q', key: 'Entre' })
    expect({ code, error }).toEqual({ code: 'invalid_data', error: 'unknown key "Entre"' })
  })
})
