import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const log = `<script>
  window.events = []
  for (const type of ['click', 'dblclick', 'auxclick', 'contextmenu', 'mousedown', 'mouseup', 'drop', 'dragover'])
    document.addEventListener(type, (event) => {
      const { button, altKey, ctrlKey, metaKey, shiftKey, clientX: x, clientY: y } = event
      events.push({ type, on: event.composedPath()[0].id, button, keys: [altKey && 'alt', ctrlKey && 'ctrl', metaKey && 'meta', shiftKey && 'shift'].filter(Boolean).join('+'), x, y })
    }, true)
  window.moves = []
  document.addEventListener('mousemove', ({ clientX, clientY }) => moves.push([clientX, clientY]), true)
</script>`

const pages = {
  '/': `<!doctype html><style>body{margin:0} button{position:absolute;width:100px;height:40px}</style>${log}
    <button id=a style="left:20px;top:20px">First</button>
    <button id=b style="left:20px;top:100px" disabled>Second</button>
    <button id=c style="left:20px;top:180px;display:none">Third</button>
    <button id=d style="left:200px;top:20px">Under</button>
    <div id=veil class="veil dark" style="position:absolute;left:190px;top:10px;width:120px;height:60px">Please wait</div>
    <section id=closed style="visibility:hidden"><p id=e>Fourth</p></section>
    <details id=more><summary>More</summary><p id=f>Fifth</p></details>
    <button class=twin style="left:340px;top:20px" id=t1>Twin</button><button class=twin style="left:340px;top:100px" id=t2>Twin</button>
    <div id=host style="position:absolute;left:500px;top:20px"></div>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<button id=shadow style="position:static">In the shadow</button>'</script>
    <iframe id=inner src=/inner style="position:absolute;left:20px;top:300px;width:300px;height:150px"></iframe>
    <p id=far style="position:absolute;top:3000px;left:1500px;width:500px">Far</p>`,
  '/inner': `<!doctype html>${log}<button id=in style="position:absolute;left:10px;top:10px">Inside</button>`,
  '/drag': `<!doctype html><style>body{margin:0} div{position:absolute;width:80px;height:80px;background:#ccc}</style>${log}
    <div id=card draggable=true style="left:20px;top:20px">Card</div><div id=done style="left:300px;top:20px">Done</div>
    <div id=slider style="left:20px;top:200px;width:400px"></div>
    <script>
      card.addEventListener('dragstart', (event) => event.dataTransfer.setData('text/plain', 'card'))
      done.addEventListener('dragover', (event) => event.preventDefault())
      done.addEventListener('drop', (event) => { event.preventDefault(); done.append(document.getElementById(event.dataTransfer.getData('text/plain'))) })
    </script>`,
}

interface Seen {
  type: string
  on: string
  button: number
  keys: string
  x: number
  y: number
}

inUsualHomes(pages, (given) => {
  const seen = async (...types: string[]) =>
    ((await given.evaluate('events')) as Seen[]).filter(({ type }) => types.includes(type))

  test('click clicks the center of the first match', async () => {
    await given.open('/')
    await given.do('click', { selector: '#a' })
    await given.do('click', { selector: '.twin' })
    expect(await seen('click')).toMatchObject([
      { on: 'a', x: 70, y: 40 },
      { on: 't1', x: 390, y: 40 },
    ])
  })

  test('click reaches elements by shadow root, iframe, text, role and path', async () => {
    await given.open('/')
    await given.do('click', { selector: '#shadow' })
    await given.do('click', { selector: 'text=First' })
    await given.do('click', { selector: 'role=button[name="First"]' })
    await given.do('click', { selector: 'xpath=//button[@id="a"]' })
    await given.do('click', { selector: 'body >> #a' })
    expect((await seen('click')).map(({ on }) => on)).toEqual(['shadow', 'a', 'a', 'a', 'a'])
    await given.do('click', { selector: 'frame=#inner >> #in' })
    const inside = { selector: 'frame=#inner >> html', expression: 'window.events.map(({type, on}) => type + on)' }
    expect(await given.value('evaluate_on_element', inside)).toContain('clickin')
  })

  test('reports what covers the element of a failed click', async () => {
    await given.open('/')
    const fail = (selector: string) => given.fails('click', { selector, timeout_ms: 700 })
    expect(await fail('#d')).toMatchObject({
      code: 'element_obscured',
      error: '#d is covered by div#veil.veil.dark "Please wait"',
      details: { selector: '#d', matched: 1, covered_by: 'div#veil.veil.dark "Please wait"' },
    })
    expect(await fail('#b')).toMatchObject({ code: 'not_editable', error: '#b is disabled (button#b "Second")' })
    expect(await fail('#c')).toMatchObject({
      code: 'element_not_visible',
      error: '#c is not visible: display: none of the element itself',
    })
    expect(await fail('#e')).toMatchObject({
      error: '#e is not visible: visibility: hidden of section#closed "Fourth"',
    })
    expect(await fail('#f')).toMatchObject({ error: expect.stringContaining('inside the closed details#more') })
    expect(await fail('details p, #closed p')).toMatchObject({
      error: expect.stringMatching(/^details p, #closed p \(the first of 2 matches\) is not/),
    })
  })

  test('suggests similar elements when a click matches nothing', async () => {
    await given.open('/')
    const near = async (selector: string) => {
      const { code, details, error } = await given.fails('click', { selector, timeout_ms: 700 })
      expect(code).toBe('element_not_found')
      expect(error).toContain(`no element matches ${selector}`)
      return (details!['candidates'] as { selector: string }[]).map((candidate) => candidate.selector)
    }
    expect(await near('#shadwo')).toContain('#shadow')
    expect(await near('.twins')).toContain('.twin')
    expect(await near('text=Frist')).toContain('text="First"')
    expect(await near('role=button[name="Secnd"]')).toContain('role=button[name="Second"]')
    expect(await near('frame=#inner >> #inn')).toContain('#in')
    expect(await near('#zzzzzzzzzz')).toEqual([])
  })

  test('rejects an invalid selector and a stale reference at once', async () => {
    await given.open('/')
    const bad = await given.fails('click', { selector: 'div[[' })
    expect(bad).toMatchObject({ code: 'invalid_selector', details: { selector: 'div[[' } })
    expect((await given.fails('click', { selector: 'xpath=//[' })).code).toBe('invalid_selector')
    expect((await given.fails('click', { selector: 'ref=nonsense' })).code).toBe('invalid_selector')
    const stale = await given.fails('click', { selector: 'ref=e9999' })
    expect(stale).toMatchObject({ code: 'stale_ref', error: expect.stringContaining('e9999') })
    for (const { duration_ms } of [bad, stale]) expect(duration_ms).toBeLessThan(limits.command.elementMs)
  })

  test('click waits until the element is clickable', async () => {
    await given.open('/')
    await given.evaluate('setTimeout(() => veil.remove(), 200)')
    await given.do('click', { selector: '#d' })
    expect(await seen('click')).toMatchObject([{ on: 'd' }])
  })

  test('click_at clicks a position', async () => {
    await given.open('/')
    await given.do('click_at', { x: 25, y: 30 })
    expect(await seen('click')).toMatchObject([{ on: 'a', x: 25, y: 30 }])
  })

  test.each([
    [25, 3000],
    [1280, 20],
    [-1, 20],
  ])('click_at rejects a position outside the viewport: %d,%d', async (x, y) => {
    await given.open('/')
    expect(await given.fails('click_at', { x, y })).toMatchObject({
      code: 'invalid_data',
      error: `${x},${y} is outside the viewport (1280x720): scroll there first with scroll_to or scroll_into_view`,
      details: { x, y, viewport: { width: 1280, height: 720 } },
    })
    expect(await seen('mousedown')).toEqual([])
  })

  test('click_at clicks an element after scrolling', async () => {
    await given.open('/')
    await given.do('scroll_to', { x: 1500, y: 3000 })
    const [box] = (await given.value('get_bounding_boxes', { selector: '#far' })) as { x: number; y: number }[]
    await given.do('click_at', { x: box!.x + 5, y: box!.y + 5 })
    expect(await seen('click')).toMatchObject([{ on: 'far' }])
  })

  test('click_advanced accepts a button, a count and modifier keys', async () => {
    await given.open('/')
    await given.do('click_advanced', { selector: '#a', button: 'right', click_count: 1, modifiers: 0 })
    await given.do('click_advanced', { selector: '#a', button: 'middle', click_count: 1, modifiers: 0 })
    await given.do('click_advanced', { selector: '#a', button: 'left', click_count: 2, modifiers: 9 })
    expect(await seen('contextmenu', 'dblclick', 'auxclick')).toMatchObject([
      { type: 'contextmenu', button: 2 },
      { type: 'auxclick', button: 2 },
      { type: 'auxclick', button: 1 },
      { type: 'dblclick', keys: 'alt+shift' },
    ])
  })

  test('hover moves the pointer over an element', async () => {
    await given.open('/')
    await given.do('hover', { selector: '#t2' })
    expect(await given.evaluate('document.querySelector("#t2").matches(":hover")')).toBe(true)
  })

  test('move_mouse_to jumps, or moves along a curve that ends exactly at the target', async () => {
    await given.open('/')
    await given.do('move_mouse_to', { x: 10, y: 400 })
    await given.evaluate('moves.length = 0')
    await given.do('move_mouse_to', { x: 710, y: 600, steps: 30 })
    const moves = (await given.evaluate('moves')) as [number, number][]
    expect(moves.length).toBeGreaterThan(20)
    expect(moves.at(-1)).toEqual([710, 600])
    const straight = moves.every(([x, y]) => Math.abs(y - (400 + ((x - 10) / 700) * 200)) < 2)
    expect(straight).toBe(false)
    await given.evaluate('moves.length = 0')
    await given.do('move_mouse_to', { x: 20, y: 20 })
    expect(await given.evaluate('moves')).toEqual([[20, 20]])
  })

  test('starts a human-like path at the last click', async () => {
    await given.open('/')
    await given.do('move_mouse_to', { x: 1200, y: 700 })
    await given.do('click', { selector: '#a' })
    await given.evaluate('moves.length = 0')
    await given.do('move_mouse_to', { x: 600, y: 40, steps: 40 })
    const [[x, y]] = (await given.evaluate('moves')) as [[number, number]]
    expect(Math.hypot(x - 70, y - 40)).toBeLessThan(15)
  })

  test('drag presses, moves and releases, with modifier keys', async () => {
    await given.open('/drag')
    await given.do('drag', { from: { x: 30, y: 210 }, to: { x: 200, y: 220 }, modifiers: 8 })
    expect(await seen('mousedown', 'mouseup')).toMatchObject([
      { type: 'mousedown', x: 30, y: 210, keys: 'shift' },
      { type: 'mouseup', x: 200, y: 220, keys: 'shift' },
    ])
    expect(((await given.evaluate('moves.length')) as number) > 5).toBe(true)
  })

  test('drag and drag_to drop draggable elements', async () => {
    await given.open('/drag')
    await given.do('drag_to', { selector: '#card', target_selector: '#done' })
    expect(await given.evaluate('card.parentElement.id')).toBe('done')
    await given.open('/drag')
    await given.do('drag', { from: { x: 60, y: 60 }, to: { x: 340, y: 60 }, modifiers: 0 })
    expect(await given.evaluate('card.parentElement.id')).toBe('done')
  })

  test('drag_to drags between positions inside an element', async () => {
    await given.open('/drag')
    const positions = { source_position: { x: 10, y: 10 }, target_position: { x: 300, y: 10 } }
    await given.do('drag_to', { selector: '#slider', ...positions, modifiers: 2 })
    expect(await seen('mousedown', 'mouseup')).toMatchObject([
      { type: 'mousedown', x: 30, y: 210, keys: 'ctrl' },
      { type: 'mouseup', x: 320, y: 210, keys: 'ctrl' },
    ])
  })

  test('drag_to reports a missing target', async () => {
    await given.open('/drag')
    const { code, error } = await given.fails('drag_to', {
      selector: '#card',
      target_selector: '#don',
      timeout_ms: 700,
    })
    expect({ code, error }).toMatchObject({
      code: 'element_not_found',
      error: expect.stringContaining('#don (closest: #done'),
    })
  })

  test('a text that is only the title of an element leads to its role', async () => {
    await given.open('/')
    await given.evaluate(
      `document.body.innerHTML = '<a href=/a.png title="View original"><img src=/a.png></a><b>View</b>'`,
    )
    const { hint } = await given.fails('click', { selector: 'text=View original', timeout_ms: 700 })
    expect(hint).toBe('did you mean role=link[name="View original"]?')
    await given.do('hover', { selector: 'role=link[name="View original"]' })
  })

  test('scroll_to and scroll_into_view move the page', async () => {
    await given.open('/')
    expect(await given.do('scroll_to', { y: 700 })).toEqual({ x: 0, y: 700 })
    expect(await given.do('scroll_to', { x: 100, y: 10 })).toEqual({ x: 100, y: 10 })
    expect(await given.do('scroll_to', { y: 1_000_000 })).toMatchObject({ x: 100 })
    await given.do('scroll_to', { x: 0, y: 0 })
    await given.do('scroll_into_view', { selector: '#far' })
    expect(await given.evaluate('scrollY > 1000 && scrollX > 0')).toBe(true)
  })

  test('stays fast on a page with thousands of elements, also for errors', async () => {
    await given.open('/')
    await given.evaluate(
      `document.body.insertAdjacentHTML('beforeend', Array.from({length: 6000}, (_, at) => '<i id=n' + at + ' class=c' + at + '>n' + at + '</i>').join(''))`,
    )
    const clicked = await given.run([['click', { selector: '#a' }]])
    expect(clicked.results[0]).toMatchObject({ success: true })
    const { details, duration_ms } = await given.fails('click', { selector: '#n599x', timeout_ms: 700 })
    expect(details!['candidates']).toHaveLength(5)
    expect(duration_ms).toBeLessThan(limits.command.elementMs)
  })
})
