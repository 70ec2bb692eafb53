/** Inline elements that only have text: Playwright's snapshot has them as text, unless they can be clicked. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const clicked = 'onclick="document.title = this.id"'
const pages = {
  '/': `<!doctype html><title>Inline</title><style>.p{cursor:pointer}</style>
    <p>Sort by <span id=price ${clicked}>price</span>, <i id=name class=p>name</i> or <span>nothing</span>.</p>
    <p><a id=anchor ${clicked}>Anchor</a> <span id=focusable tabindex=0>Focusable</span> <a href=#x class=p><span class=p>Link</span></a></p>
    <div class=p id=card>A <span>card</span> to click</div><button class=p><span>Button</span></button>
    <label id=upload for=file>Choose a photo</label><input type=file id=file hidden onchange="document.title = files[0].name">
    <label id=accept for=terms>Accept</label><input type=checkbox id=terms style="display:none">
    <label class=p for=q>Name</label><input id=q>
    <div id=host></div><script>
      document.querySelector('#name').addEventListener('click', () => document.title = 'name')
      host.attachShadow({ mode: 'open' }).innerHTML = '<p>In <span id=deep onclick="document.title = this.id">shadow</span></p>'
      window.changes = 0
      new MutationObserver((all) => changes += all.length).observe(document, { subtree: true, childList: true, attributes: true })
      window.nodes = () => price.childNodes.length
    </script>`,
  '/framed': `<!doctype html><title>Framed</title><iframe srcdoc="<p>In <span ${clicked.replaceAll('"', "'").replace('document', 'parent.document')} id=inner>frame</span></p>"></iframe>`,
  '/changes': `<!doctype html><title>Changes</title><p>Now <span id=s ${clicked}>clickable</span> text</p>`,
}

inUsualHomes(pages, (given) => {
  const snapshot = async () => (await given.client().observe({ session_id: given.sessionId() })).snapshot!
  const click = async (name: string) => {
    const [, ref] = new RegExp(`(?:generic|checkbox) "${name}" \\[ref=(e\\d+)\\]`).exec(await snapshot())!
    await given.do('click', { selector: `ref=${ref}` })
    return given.value('get_title')
  }

  test('clickable ones have references, and others stay text', async () => {
    await given.open('/')
    expect((await snapshot()).replaceAll(/ \[ref=e\d+\]/g, '')).toBe(`- text: Sort by
- generic "price"
- text: ","
- generic "name"
- text: or nothing.
- generic "Anchor"
- generic "Focusable"
- link "Link"
- generic "A card to click"
- button "Button"
- generic "Choose a photo"
- checkbox "Accept"
- textbox "Name"
- text: In
- generic "shadow"`)
    expect(await click('price')).toBe('price')
    expect(await click('name')).toBe('name')
    expect(await click('Anchor')).toBe('anchor')
    expect(await click('shadow')).toBe('deep')
    await click('Accept')
    expect(await given.evaluate('terms.checked')).toBe(true)
  })

  test('the page sees no change', async () => {
    await given.open('/')
    const first = await snapshot()
    expect(await snapshot()).toBe(first)
    expect(await given.evaluate('[changes, nodes()]')).toEqual([0, 1])
  })

  test('in a frame', async () => {
    await given.open('/framed')
    expect(await click('frame')).toBe('inner')
  })

  test('one that can no longer be clicked is text again', async () => {
    await given.open('/changes')
    expect(await snapshot()).toMatch(/generic "clickable"/)
    await given.evaluate('s.removeAttribute("onclick")')
    expect(await snapshot()).toBe('- text: Now clickable text')
  })
})
