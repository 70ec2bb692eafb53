/** Typing into editors that keep their content outside of the element with the focus. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { serveEditors } from '../support/editors.ts'
import type { Site } from '../support/site.ts'

const pages = {
  '/body': '<!doctype html><body contenteditable>',
  '/framed': `<!doctype html><input id=other autofocus><iframe id=inner srcdoc="<body contenteditable>Hello"></iframe>
    <iframe id=design></iframe><script>design.contentDocument.designMode = 'on'</script>`,
  '/tiny': `<!doctype html><textarea id=helper style="width:0;height:0;opacity:0;position:absolute;border:0;padding:0"></textarea>
    <input id=none style="display:none"><input id=off style="width:0;height:0" disabled><form><input id=first></form>
    <div id=two><div contenteditable>a</div><div contenteditable>b</div></div>`,
}

let editors: Site
beforeAll(async () => {
  editors = await serveEditors()
})
afterAll(() => editors?.close())

inUsualHomes(pages, (given) => {
  const content = () => given.evaluate('content()')

  describe.each([
    ['codemirror', ['.cm-content', '.cm-editor'], 'const one = 1'],
    ['prosemirror', ['.ProseMirror'], 'Hello'],
    ['lexical', ['#editor'], 'Hello'],
    ['monaco', ['.monaco-editor', '#editor'], null],
    ['xterm', ['.xterm-helper-textarea', '#terminal'], ''],
  ])('%s', (name, selectors, before) => {
    test.each(selectors)('type_text types into %s', async (selector) => {
      await given.do('navigate_to', { url: `${editors.url}/${name}` })
      await given.do('wait_for', {
        function: 'window.content && document.querySelector("textarea, [contenteditable], .native-edit-context")',
      })
      await given.do('type_text', { selector, text: ' and two' })
      const typed = (await content()) as string
      if (before === null) expect([' and twoone', 'one and two']).toContain(typed)
      else expect(typed).toBe(`${before} and two`)
    })
  })

  test.each(['codemirror', 'prosemirror', 'lexical', 'monaco'])(
    'type_text replaces the content of %s',
    async (name) => {
      await given.do('navigate_to', { url: `${editors.url}/${name}` })
      await given.do('wait_for', {
        function: 'window.content && document.querySelector("[contenteditable], .native-edit-context")',
      })
      const selector = name === 'monaco' ? '.monaco-editor' : '[contenteditable=true]'
      await given.do('type_text', { selector, text: 'new', clear: true })
      expect(await content()).toBe('new')
    },
  )

  test.each(['codemirror', 'prosemirror', 'lexical'])('fill replaces the content of %s', async (name) => {
    await given.do('navigate_to', { url: `${editors.url}/${name}` })
    await given.do('wait_for', { selector: '[contenteditable=true]' })
    await given.do('fill', { selector: '[contenteditable=true]', text: 'at once' })
    expect(await content()).toBe('at once')
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`).join('\n')
    await given.do('fill', { selector: '[contenteditable=true]', text: lines })
    expect(((await content()) as string).replaceAll(/\n+/g, '\n')).toBe(lines)
  })

  test('type_text types into the body of a page or frame', async () => {
    await given.open('/body')
    await given.do('type_text', { selector: 'body', text: 'first' })
    await given.do('type_text', { selector: 'body', text: ' second' })
    expect(await given.evaluate('document.body.textContent')).toBe('first second')
    await given.open('/framed')
    await given.do('type_text', { selector: 'frame=#inner >> body', text: ' there' })
    await given.do('type_text', { selector: 'frame=#design >> body', text: 'designed' })
    expect(await given.value('get_text', { selector: 'frame=#inner >> body' })).toBe('Hello there')
    expect(await given.value('get_text', { selector: 'frame=#design >> body' })).toBe('designed')
    expect(await given.value('get_value', { selector: '#other' })).toBe('')
  })

  test('type_text accepts an element without a size, but none that cannot take keys', async () => {
    await given.open('/tiny')
    await given.do('type_text', { selector: '#helper', text: 'unseen' })
    expect(await given.value('get_value', { selector: '#helper' })).toBe('unseen')
    const fail = (selector: string) => given.fails('type_text', { selector, text: 'x', timeout_ms: 700 })
    expect(await fail('#none')).toMatchObject({ code: 'element_not_visible', details: { delivered: false } })
    expect(await fail('#off')).toMatchObject({ details: { delivered: false } })
    // A container with fields or with two editors does not say which one is meant.
    for (const selector of ['form', '#two']) expect(await fail(selector)).toMatchObject({ code: 'not_editable' })
    expect(await given.value('get_value', { selector: '#first' })).toBe('')
  })
})
