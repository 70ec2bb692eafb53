/** Typing into editors that keep their content outside of the element with the focus. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { serveEditors } from '../support/editors.ts'
import type { Site } from '../support/site.ts'

const pages = {
  '/body': '<!doctype html><body contenteditable>',
  '/framed': `<!doctype html><input id=other autofocus><iframe id=inner srcdoc="<body contenteditable>Hello"></iframe>
    <iframe id=design></iframe><script>design.contentDocument.designMode = 'on'</script>`,
  '/own': `<!doctype html><label id=l hidden>Bio</label><div id=bio contenteditable aria-labelledby=l></div>
    <div contenteditable><p>Hello there,</p><p>see <span contenteditable=false>@Ann</span></p></div>
    <div id=empty contenteditable><p></p></div><div id=host></div><iframe id=inner srcdoc="<body contenteditable><p>In a frame</p></body>"></iframe>
    <iframe id=design></iframe><div contenteditable=false>not editable</div><script>design.contentDocument.designMode = 'on'
    host.attachShadow({ mode: 'open' }).innerHTML = '<div contenteditable aria-label=Deep>inside</div>'</script>`,
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

  const openEditor = async (name: string) => {
    await given.do('navigate_to', { url: `${editors.url}/${name}` })
    const field = 'document.querySelector("textarea, [contenteditable=true], .native-edit-context")'
    await given.do('wait_for', { function: `window.content && ${field}` })
  }
  const read = async (selector: string) => [await content(), await given.value('get_value', { selector })]
  const refOf = async () => {
    const { elements } = await given.client().observe({ session_id: given.sessionId(), include: ['elements'] })
    return elements!.filter(({ role, name }) => role === 'textbox' && name === 'Notes')
  }

  describe.each([
    ['codemirror', '.cm-content'],
    ['codemirror5', '.CodeMirror'],
    ['prosemirror', '.ProseMirror'],
    ['lexical', '#editor'],
    ['quill', '.ql-editor'],
    ['tiptap', '.ProseMirror'],
    ['slate', '[contenteditable=true]'],
    ['monaco', '.monaco-editor'],
  ])('%s', (name, selector) => {
    test('is a control with a value, filled by selector, reference and name, and read back', async () => {
      await openEditor(name)
      const before = await content()
      const [listed, ...others] = await refOf()
      expect(others).toEqual([])
      expect(listed).toMatchObject({ ref: expect.any(String), ...(name !== 'monaco' && { value: before }) })
      expect(await read(selector)).toEqual([before, before])
      const ways = [
        selector,
        `ref=${listed!.ref}`,
        'label=Notes',
        ...(name === 'monaco' ? [] : ['role=textbox[name="Notes"]']),
      ]
      for (const [at, way] of ways.entries()) {
        await given.do('fill', { selector: way, text: `text ${at}` })
        expect(await read(selector)).toEqual([`text ${at}`, `text ${at}`])
      }
      await given.do('fill_form', { fields: { Notes: 'by form' } })
      expect(await read(selector)).toEqual(['by form', 'by form'])
      const { snapshot } = await given.client().observe({ session_id: given.sessionId(), include: ['snapshot'] })
      expect(snapshot).toMatch(/- textbox "Notes".* \[ref=e\d+\]: by form$/m)
    })

    test('takes several lines, many lines, and no text', async () => {
      await openEditor(name)
      for (const text of [
        'one\ntwo (2)\n  three {',
        '',
        'short',
        Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\n'),
      ]) {
        await given.do('fill', { selector, text })
        // Styles that are not loaded make editors collapse spaces.
        const plain = (all: unknown) =>
          name === 'prosemirror'
            ? String(all)
                .replaceAll(/[ \u00A0]+/g, ' ')
                .replaceAll('\n ', '\n')
            : all
        expect((await read(selector)).map(plain)).toEqual([plain(text), plain(text)])
      }
    })

    test('takes keys: text with a line break, and shortcuts', async () => {
      await openEditor(name)
      await given.do('type_text', { selector, text: 'one\ntwo', clear: true })
      expect(await read(selector)).toEqual(['one\ntwo', 'one\ntwo'])
      await given.do('press_key', { selector, key: 'Control+A' })
      // Slate notices a selection up to 100 ms later.
      await given.do('wait_for', {
        function: '(window.selected ?? getSelection)().toString().includes("two") || window.isBold === undefined',
      })
      const hasBold = await given.evaluate('window.isBold !== undefined')
      if (hasBold) {
        await given.do('press_key', { selector, key: 'Control+B' })
        await given.do('wait_for', { function: 'isBold()' })
        expect(await content()).toBe('one\ntwo')
      } else {
        await given.do('press_key', { selector, key: 'x' })
        expect(await content()).toBe('x')
      }
    })
  })

  test.each([
    ['codemirror', '.cm-content', 'document.querySelector(".cm-content").cmTile = undefined'],
    ['codemirror5', '.CodeMirror', 'document.querySelector(".CodeMirror").CodeMirror = undefined'],
    ['monaco', '.monaco-editor', 'window.monaco = undefined'],
  ])('%s draws a part of its text, which is not taken for the whole', async (name, selector, hide) => {
    await openEditor(name)
    await given.evaluate(
      'document.head.append(Object.assign(document.createElement("style"), { textContent: ".cm-editor { height: 300px } .cm-scroller { overflow: auto }" }))',
    )
    const text = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
    await given.do('fill', { selector, text })
    expect(await given.value('get_value', { selector })).toBe(text)
    const { snapshot, elements } = await given.client().observe({ session_id: given.sessionId() })
    expect(snapshot).toMatch(/- textbox "Notes".* \[partial\]/)
    expect(elements!.find(({ role }) => role === 'textbox')).toMatchObject({ value: null })
    // The text of an editor that the page does not give access to is verified as it would be copied.
    await given.evaluate(hide)
    expect(await given.fails('get_value', { selector })).toMatchObject({
      code: 'action_failed',
      error: `the text of ${selector} is not known: its editor draws only a part of it`,
    })
    await given.do('fill', { selector, text: `${text}\nlast` })
    expect(await content()).toBe(`${text}\nlast`)
    await given.do('type_text', { selector, text: ' one' })
    expect(await content()).toBe(`${text}\nlast one`)
    await given.do('fill', { selector, text: 'short' })
    expect(await read(selector)).toEqual(['short', 'short'])
  })

  test('editors of the page itself are controls: empty ones, in shadow roots, frames and documents', async () => {
    await given.open('/own')
    const { snapshot } = await given.client().observe({ session_id: given.sessionId(), include: ['snapshot'] })
    expect(snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')).toBe(`- textbox "Bio"
- textbox: Hello there, see @Ann
- textbox
- textbox "Deep": inside
- iframe:
  - textbox: In a frame
- iframe:
  - textbox
- text: not editable`)
    for (const [selector, text] of [
      ['role=textbox[name="Bio"]', 'Ann\nBee'],
      ['body >> role=textbox[name="Deep"]', 'new'],
      ['frame=#inner >> body', 'framed'],
      ['frame=#design >> body', 'designed'],
      ['#empty', 'full'],
    ] as const) {
      await given.do('fill', { selector, text })
      expect(await given.value('get_value', { selector })).toBe(text)
    }
    expect(await given.evaluate('document.querySelector("#bio").getAttribute("role")')).toBe(null)
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
    const fail = (selector: string, awaited = {}) => given.fails('type_text', { selector, text: 'x', ...awaited })
    const awaited = { timeout_ms: 700 }
    expect(await fail('#none', awaited)).toMatchObject({ code: 'element_not_visible', details: { delivered: false } })
    expect(await fail('#off', awaited)).toMatchObject({ details: { delivered: false } })
    // A container with fields or with two editors does not say which one is meant.
    for (const selector of ['form', '#two']) expect(await fail(selector)).toMatchObject({ code: 'not_editable' })
    expect(await given.value('get_value', { selector: '#first' })).toBe('')
  })
})
