import { expect, test } from 'vitest'
import type { Observation, ObservedElement } from '../../src/core/shapes/observe.ts'
import { inUsualHomes } from '../support/commands.ts'
import { failureOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

const shop = `<!doctype html><title>Shop</title>
<header><nav aria-label=Main><a href=/>Home</a> <a href=/about>About us</a></nav></header>
<main>
  <h1>Tea &amp; more</h1>
  <p>We have sold tea since 1900, and we go on selling it.</p>
  <ul>${['Assam', 'Darjeeling'].map((tea, at) => `<li><b>${tea}</b> ${at + 4} EUR <button>Buy</button></li>`).join('')}</ul>
  <form>
    <label>Name <input name=name placeholder="Your name" value=Ann></label>
    <label>Password <input type=password name=pass value=hunter2></label>
    <label><input type=checkbox name=gift checked> As a gift</label>
    <select aria-label=Size><option>small<option selected>large</select>
    <button disabled>Order</button>
  </form>
  <div id=editor contenteditable>Write here</div>
  <div id=card style="cursor:pointer" onclick="this.dataset.hit = 1"><span>A card</span> <span>to click</span></div>
  <p role=alert>Only two left</p>
</main>`

const pages = {
  '/': shop,
  '/counter': `<!doctype html><title>Counter</title><button id=count onclick="this.textContent = +this.textContent + 1">0</button>`,
  '/frames': `<!doctype html><title>Frames</title><h1>Outer</h1><button>Outside</button>
    <iframe id=inner title=Inner src=/inner style="margin:20px;border:5px solid;padding:10px"></iframe>
    <my-box id=box></my-box>
    <script>customElements.define('my-box', class extends HTMLElement { constructor() { super()
      this.attachShadow({mode: 'open'}).innerHTML = '<slot></slot><button class=in>In the shadow</button>' } })</script>`,
  '/inner': `<!doctype html><title>Inner</title><style>body{margin:0}</style><button onclick="this.textContent = 'Pressed'">Inside</button>
    <iframe src=/innermost></iframe>`,
  '/innermost': '<!doctype html><input aria-label=Deep>',
  '/other-site': `<!doctype html><h1>Ours</h1><script>document.write('<iframe src="' + location.href.replace('127.0.0.1', 'localhost').replace('other-site', 'inner') + '"></iframe>')</script>`,
  '/card': `<!doctype html><title>Card</title><div id=card style="width:80px">Card</div>
    <script>card.addEventListener('click', () => { document.title = 'Pressed' })</script>`,
  '/nameless': `<!doctype html><title>Nameless</title><style>div div { width: 20px; height: 20px }</style>
    <div>Delete <div id=icon></div></div><div>Size <div id=handle style="cursor:col-resize"></div></div>
    <script>icon.addEventListener('click', () => { document.title = 'Deleted' }); handle.addEventListener('mousedown', () => {})</script>`,
  '/long': `<!doctype html><title>Long</title><h1>Long</h1>${Array.from(
    { length: 1000 },
    (_, at) =>
      `<section><h2>Part ${at}</h2><p>Some words about part ${at}.</p><a href=/part/${at}>Read part ${at}</a></section>`,
  ).join('')}`,
  '/large': `<!doctype html><title>Large</title><table>${'<tr><td>Some<td>words<td><a href=#>in</a><td><button>cells</button>'.repeat(3500)}</table>
    <form><button onclick="event.preventDefault(); this.textContent = 'Sent'">Send</button></form><iframe src=/inner></iframe>`,
  '/dialogs': `<!doctype html><title>Dialogs</title><button id=ask onclick="alert('Sure?')">Ask</button>
    <script>console.warn('careful'); fetch('/missing')</script>`,
  '/slow': (_: unknown, response: import('node:http').ServerResponse) => {
    response.setHeader('content-type', 'text/html')
    response.write('<!doctype html><title>Slow</title><h1>Beginning</h1>')
    setTimeout(() => response.end('<button>End</button>'), 300)
  },
  '/palette': `<!doctype html><title>Palette</title><button>Smile</button>
    <div style="position:absolute;left:-9999px"><label><input type=checkbox> Large</label>${Array.from({ length: 60 }, (_, at) => `<button>Sign ${at}</button>`).join('')}</div>
    <div id=list style="height:100px;overflow:auto">${Array.from({ length: 60 }, (_, at) => `<p><a href=/${at}>Row ${at}</a></p>`).join('')}</div>
    <script>list.scrollTop = 1e6</script>`,
  '/head': '<!doctype html><title>Head</title><script src=/never></script><h1>Later</h1>',
  '/never': () => {},
  '/svg': (_: unknown, response: import('node:http').ServerResponse) => {
    response.setHeader('content-type', 'image/svg+xml')
    response.end('<svg xmlns="http://www.w3.org/2000/svg"><title>Drawing</title><text y="20">Words</text></svg>')
  },
}

type Box = ObservedElement['box']

const named = ({ elements }: Observation, name: string): ObservedElement =>
  elements!.find((element) => element.name === name)!

const rounded = (box: unknown) =>
  Object.fromEntries(Object.entries(box as Record<string, number>).map(([name, value]) => [name, Math.round(value)]))

inUsualHomes(pages, (given) => {
  const observe = (input: Record<string, unknown> = {}): Promise<Observation> =>
    given.client().observe({ session_id: given.sessionId(), ...input } as never)

  test('returns a snapshot with text and controls in document order', async () => {
    await given.open('/')
    const { snapshot, truncated, omitted } = await observe()
    expect(snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')).toBe(`- banner:
  - navigation "Main":
    - link "Home"
    - link "About us"
- main:
  - heading "Tea & more" [level=1]
  - text: We have sold tea since 1900, and we go on selling it.
  - listitem:
    - text: Assam 4 EUR
    - button "Buy"
  - listitem:
    - text: Darjeeling 5 EUR
    - button "Buy"
  - textbox "Name" [placeholder="Your name"]: Ann
  - textbox "Password": ••••••••
  - checkbox "As a gift" [checked]
  - combobox "Size" [options=small | large]: large
  - button "Order" [disabled]
  - textbox: Write here
  - generic "A card to click"
  - alert: Only two left`)
    for (const line of snapshot!.split('\n'))
      expect(/\[ref=e\d+\]/.test(line)).toBe(/- (?:link|button|textbox|checkbox|combobox|generic)/.test(line))
    expect(omitted).toEqual({})
    expect(truncated).toBe(false)
  })

  test('interactive_only returns controls, headings and distinguishing text', async () => {
    await given.open('/')
    const { snapshot, elements } = await observe({ interactive_only: true })
    expect(snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')).toBe(`- banner:
  - navigation "Main":
    - link "Home"
    - link "About us"
- main:
  - heading "Tea & more" [level=1]
  - listitem "Assam 4 EUR":
    - button "Buy"
  - listitem "Darjeeling 5 EUR":
    - button "Buy"
  - textbox "Name" [placeholder="Your name"]: Ann
  - textbox "Password": ••••••••
  - checkbox "As a gift" [checked]
  - combobox "Size" [options=small | large]: large
  - button "Order" [disabled]
  - textbox: Write here
  - generic "A card to click"
  - alert: Only two left`)
    expect(elements!.map(({ name }) => name)).not.toContain('Tea & more')
  })

  test('lists elements with role, value and box', async () => {
    await given.open('/')
    const seen = await observe()
    const { ref, box, ...name } = named(seen, 'Name')
    expect(name).toEqual({
      role: 'textbox',
      name: 'Name',
      tag: 'input',
      selector: 'input[name="name"]',
      text: '',
      value: 'Ann',
      href: null,
      checked: null,
      disabled: false,
      visible: true,
      in_viewport: true,
    })
    expect(seen.snapshot).toContain(`[ref=${ref}]: Ann`)
    const real = await given.value('get_element_bounding_box', { selector: `ref=${ref}` })
    expect(rounded(real)).toEqual(rounded(box))
    expect(named(seen, 'Password').value).toBeNull()
    expect(named(seen, 'As a gift')).toMatchObject({ role: 'checkbox', checked: true })
    expect(named(seen, 'Size')).toMatchObject({ role: 'combobox', value: 'large' })
    expect(named(seen, 'Order').disabled).toBe(true)
    expect(named(seen, 'About us').href).toBe(given.url('/about'))
    expect(JSON.stringify(seen)).not.toContain('hunter2')
  })

  test('lists unique selectors', async () => {
    for (const path of ['/', '/frames']) {
      await given.open(path)
      const { elements } = await observe()
      for (const { selector, box, name } of elements!) {
        const boxes = (await given.value('get_bounding_boxes', { selector })) as { x: number; y: number }[]
        expect(boxes, `${selector} (${name})`).toHaveLength(1)
        expect(boxes[0]!.x).toBeCloseTo(box.x, 0)
        expect(boxes[0]!.y).toBeCloseTo(box.y, 0)
      }
    }
  })

  test('returns identical observations of an unchanged page', async () => {
    await given.open('/')
    const options = { include: ['snapshot', 'elements', 'tabs', 'text', 'console', 'storage'] }
    const [first, second] = [await observe(options), await observe(options)]
    expect({ ...second, observation_id: '', captured_at: '' }).toEqual({
      ...first,
      observation_id: '',
      captured_at: '',
    })
    expect(second.observation_id).not.toBe(first.observation_id)
  })

  test('keeps a reference for the lifetime of its element', async () => {
    await given.open('/counter')
    const before = named(await observe(), '0').ref
    for (const count of ['1', '2', '3']) {
      await given.do('click', { selector: `ref=${before}` })
      expect(named(await observe(), count).ref).toBe(before)
    }
    await given.evaluate(
      "document.querySelector('#count').replaceWith(Object.assign(document.createElement('button'), {textContent: 'New'}))",
    )
    expect((await given.fails('click', { selector: `ref=${before}` })).code).toBe('stale_ref')
    const after = named(await observe(), 'New').ref
    expect(after).not.toBe(before)
    expect((await given.fails('click', { selector: `ref=${before}` })).code).toBe('stale_ref')
  })

  test('observes a page of more than 20,000 elements, and a part of it', async () => {
    await given.open('/large')
    const { snapshot, omitted } = await observe({ interactive_only: true, include: ['snapshot'] })
    expect(snapshot).toContain('- button "Inside"')
    expect(omitted.links! + snapshot!.match(/- link "in"/g)!.length).toBe(3500)
    const part = await observe({ selector: 'form' })
    await given.do('click', { selector: `ref=${named(part, 'Send').ref}` })
    expect(await given.value('get_text', { selector: 'form' })).toBe('Sent')
  })

  test('rejects a reference of the previous page, and does not reuse its number', async () => {
    await given.open('/counter')
    const before = named(await observe(), '0').ref
    await given.open('/counter')
    expect((await given.fails('click', { selector: `ref=${before}` })).code).toBe('stale_ref')
    expect(named(await observe(), '0').ref).not.toBe(before)
    expect((await given.fails('click', { selector: `ref=${before}` })).code).toBe('stale_ref')
  })

  test('includes iframes and open shadow roots, whose references work in all commands', async () => {
    await given.open('/frames')
    const seen = await observe()
    expect(seen.snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')).toBe(`- heading "Outer" [level=1]
- button "Outside"
- iframe:
  - button "Inside"
  - iframe:
    - textbox "Deep"
- button "In the shadow"`)
    const inside = named(seen, 'Inside')
    expect(inside.selector).toBe('frame=#inner >> body > button')
    await given.do('click', { selector: `ref=${inside.ref}` })
    expect(await given.value('get_text', { selector: `ref=${inside.ref}` })).toBe('Pressed')
    const [measured] = (await given.value('get_bounding_boxes', { selector: `ref=${inside.ref}` })) as Box[]
    expect(rounded({ x: measured!.x, y: measured!.y })).toEqual(rounded({ x: inside.box.x, y: inside.box.y }))
    await given.do('type_text', { selector: `ref=${named(seen, 'Deep').ref}`, text: 'far down', clear: true })
    expect(named(await observe(), 'Deep').value).toBe('far down')
    expect(await given.value('get_text', { selector: `ref=${named(seen, 'In the shadow').ref}` })).toBe('In the shadow')
  })

  test('lists elements with listeners on each of the sites that a tab opens', async () => {
    const sites = [given.url('/card'), given.url('/card').replace('127.0.0.1', 'localhost')]
    for (const url of [...sites, ...sites]) {
      await given.do('navigate_to', { url })
      expect((await observe()).snapshot).toMatch(/^- generic "Card" \[ref=e\d+\]$/)
    }
  })

  test('lists clickable elements without a name, and no drag handles', async () => {
    await given.open('/nameless')
    const { snapshot } = await observe()
    const [, ref] = /^- text: Delete\n- generic \[ref=(e\d+)\]\n- text: Size$/.exec(snapshot!) ?? expect.fail(snapshot!)
    await given.do('click', { selector: `ref=${ref}` })
    expect(await given.value('get_title')).toBe('Deleted')
  })

  test('includes cross-site frames with their own process', async () => {
    await given.open('/other-site')
    await waitUntil(async () => (await observe()).snapshot!.includes('Deep'))
    const inside = named(await observe(), 'Inside')
    expect(inside.selector).toBe('frame=body > iframe >> body > button')
    await given.do('click', { selector: `ref=${inside.ref}` })
    expect(await given.value('get_text', { selector: inside.selector })).toBe('Pressed')
    expect(named(await observe(), 'Pressed').ref).toBe(inside.ref)
  })

  test('keeps references valid while a trace is recorded', async () => {
    await given.open('/counter')
    const { ref } = named(await observe(), '0')
    await given.client().traceSession({ session_id: given.sessionId(), action: 'start' })
    for (const count of ['1', '2']) {
      await given.do('click', { selector: `ref=${ref}` })
      expect(await given.value('get_text', { selector: `ref=${ref}` })).toBe(count)
    }
    await given.client().traceSession({ session_id: given.sessionId(), action: 'discard' })
  })

  test('selector limits the observation, and keeps other references valid', async () => {
    await given.open('/')
    const all = await observe()
    const options = { include: ['snapshot', 'elements', 'text'], interactive_only: true }
    const part = await observe({ ...options, selector: 'form' })
    expect(part.elements!.map(({ name }) => name)).toEqual(['Name', 'Password', 'As a gift', 'Size', 'Order'])
    expect(part.snapshot).not.toContain('About us')
    expect(part.text).not.toContain('1900')
    expect(named(part, 'Name').ref).toBe(named(all, 'Name').ref)
    expect(await given.value('get_text', { selector: `ref=${named(all, 'About us').ref}` })).toBe('About us')
    const inner = await observe({ ...options, selector: `ref=${named(all, 'Size').ref}` })
    expect(inner.elements!.map(({ name }) => name)).toEqual(['Size'])
  })

  test('reports a selector without match and an invalid one', async () => {
    await given.open('/')
    expect(await observe({ selector: '#nothing' })).toMatchObject({ success: false, code: 'element_not_found' })
    expect(await observe({ selector: 'ref=e99999' })).toMatchObject({ success: false, code: 'stale_ref' })
    expect(await observe({ selector: '>>>' })).toMatchObject({ success: false, code: 'invalid_selector' })
    const hint = 'did you mean text="Tea & more"?'
    expect(await observe({ selector: 'Tea & more' })).toMatchObject({ code: 'invalid_selector', hint })
    expect(await observe({ selector: 'Tea more' })).toMatchObject({ code: 'element_not_found', hint })
  })

  test('lists elements with a role by their accessible names', async () => {
    await given.open('/')
    const { elements } = await observe()
    expect(elements!.find(({ role }) => role === 'main')!.name).toBe('')
    expect(elements!.map(({ role }) => role)).toEqual(
      expect.arrayContaining(['heading', 'listitem', 'alert', 'navigation']),
    )
    const [heading, paragraph] = ['heading', 'paragraph'].map(
      (role) => elements!.find((element) => element.role === role)!.ref,
    )
    for (let again = 0; again < 2; again++) {
      expect(await given.value('get_text', { selector: `ref=${heading}` })).toBe('Tea & more')
      expect(await given.value('get_text', { selector: `ref=${paragraph}` })).toContain('since 1900')
      await observe()
    }
  })

  test('lists few of the buttons that no scrolling reaches, all fields, and what was scrolled away', async () => {
    await given.open('/palette')
    const { snapshot, truncated, omitted } = await observe()
    expect(snapshot).toContain('button "Sign 9"')
    expect(snapshot).not.toContain('button "Sign 10"')
    expect(snapshot).toContain('checkbox "Large"')
    expect(snapshot).toContain('link "Row 0"')
    expect(snapshot!.split('\n').at(-1)).toBe('# 50 controls outside of the page omitted; use selector')
    expect({ truncated, omitted }).toEqual({ truncated: false, omitted: { outside: 50 } })
    expect((await observe({ selector: 'div' })).snapshot).toContain('button "Sign 59"')
  })

  test('cuts a long page by whole lines, keeping those in view, and counts the omitted', async () => {
    await given.open('/long')
    const { snapshot, elements, truncated, omitted } = await observe({ max_chars: 3000, limit: 20 })
    expect(truncated).toBe(true)
    expect(snapshot!.length).toBeLessThanOrEqual(3000)
    const lines = snapshot!.split('\n')
    expect(lines[0]).toBe('- heading "Long" [level=1]')
    // The most frequent first: references of many digits leave less room for links.
    expect(lines.at(-1)).toMatch(/^# (?:\d+ (?:texts|headings|links)[, and]*){3} omitted; use max_chars or selector$/)
    const counts: Record<string, number> = Object.fromEntries(
      [...lines.at(-1)!.matchAll(/(\d+) (texts|headings|links)/g)].map(([, count, kind]) => [kind, Number(count)]),
    )
    expect(omitted).toEqual({ ...counts, elements: 2981 })
    expect(Object.values(counts).reduce((sum, count) => sum + count, lines.length - 1)).toBe(3001)
    for (const line of lines.slice(0, -1))
      expect(line).toMatch(
        /^- (heading "[^"]+" \[level=\d\]|text: Some words about part \d+\.|link "[^"]+" \[ref=e\d+\])$/,
      )
    expect(elements).toHaveLength(20)
    expect(elements![0]!.name).toBe('Read part 0')
    await given.do('scroll_to', { y: 60_000 })
    const below = await observe({ max_chars: 3000, limit: 20 })
    const inView = below.elements!.filter((element) => element.in_viewport)
    expect(inView.length).toBeGreaterThan(3)
    for (const { ref } of inView) expect(below.snapshot).toContain(`[ref=${ref}]`)
    expect(below.scroll).toMatchObject({ x: 0, y: 60_000 })
  })

  test('cuts text between lines', async () => {
    await given.open('/long')
    const { text, truncated, snapshot } = await observe({ include: ['text'], max_chars: 1000 })
    expect(truncated).toBe(true)
    expect(text!.length).toBeLessThanOrEqual(1000)
    expect(text!.split('\n').at(-1)).toMatch(/^# \d+ of \d+ characters left out/)
    expect(text!.split('\n').at(-2)).toMatch(/^(Part \d+|Some words about part \d+\.|Read part \d+)?$/)
    expect(snapshot).toBeUndefined()
  })

  test('includes screenshot, console, network, dialogs and storage on request', async () => {
    await given.open('/dialogs')
    await given.do('click', { selector: '#ask' })
    await given.do('set_local_storage', { items: [{ key: 'theme', value: 'dark' }] })
    const seen = await observe({ include: ['screenshot', 'console', 'network', 'storage'] })
    expect(Buffer.from(seen.screenshot!, 'base64').subarray(1, 4).toString()).toBe('PNG')
    expect(seen.console).toContainEqual(expect.objectContaining({ level: 'warning', text: 'careful' }))
    expect(seen.network).toContainEqual({
      method: 'GET',
      url: given.url('/missing'),
      resource_type: 'fetch',
      status: 404,
    })
    expect(seen.dialogs).toEqual([{ type: 'alert', kind: 'alert', message: 'Sure?', open: false, accepted: true }])
    expect(seen.storage!.local_storage).toEqual({ theme: 'dark' })
    expect(seen).not.toHaveProperty('snapshot')
    expect(seen).not.toHaveProperty('elements')
    await given.open('/')
    expect((await observe()).dialogs).toEqual([])
  })

  test('lists tabs and marks the active one', async () => {
    await given.open('/counter')
    await given.evaluate("void window.open('/long')")
    await waitUntil(async () => (await observe({ include: ['tabs'] })).title === 'Long')
    const { tabs } = await observe()
    expect(tabs!.map((tab) => [tab.title, tab.active])).toEqual([
      ['Counter', false],
      ['Long', true],
    ])
    await given.evaluate('window.close()')
    await waitUntil(async () => (await observe()).tabs!.length === 1)
  })

  test('waits for a document that is being parsed after a click', async () => {
    await given.open('/')
    await given.evaluate(`document.body.innerHTML = '<a href=/slow>Slow</a>'`)
    await given.do('click', { selector: 'a' })
    expect((await observe()).snapshot).toMatch(/Beginning[\s\S]*button "End"/)
  })

  test('observes a document without a body', async () => {
    await given.open('/svg')
    const seen = await observe({ include: ['snapshot', 'elements', 'text', 'screenshot'] })
    expect(seen).toMatchObject({ snapshot: '', elements: [], truncated: false, omitted: {}, url: given.url('/svg') })
    expect(seen.text).toContain('Words')
  })

  test('observes a document whose head waits for a script that never arrives', async () => {
    await given.open('/')
    await given.evaluate(`document.body.innerHTML = '<a href=/head>Head</a>'`)
    await given.do('click', { selector: 'a' })
    await given.do('wait_for', { function: `document.title === 'Head'` })
    expect(await observe({ include: ['snapshot'] })).toMatchObject({ snapshot: '', url: given.url('/head') })
  })

  test('rejects invalid fields and unknown sessions', async () => {
    const bad = await failureOf(observe({ include: ['pictures'], limit: 0 }))
    expect(bad).toMatchObject({ code: 'invalid_request', status: 400 })
    expect(bad.details).toMatchObject([{ path: 'include[0]' }, { path: 'limit' }])
    expect(await failureOf(observe({ session_id: 'ses_nobody' }))).toMatchObject({
      code: 'session_not_found',
      status: 404,
    })
  })
})
