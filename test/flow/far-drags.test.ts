import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const page = `<!doctype html><style>div { width: 90px; height: 60px; border: 1px solid }</style>
  <div id=card draggable=true>card</div><div id=near>near</div><div id=closed>closed</div><div id=far style="margin-top:2500px">far</div>
  <script>
    window.log = []
    card.ondragstart = (event) => { event.dataTransfer.setData('text/plain', 'card-7'); log.push('start') }
    for (const target of [near, far]) {
      target.ondragover = (event) => event.preventDefault()
      target.ondrop = (event) => { event.preventDefault(); log.push(target.id + ':' + event.dataTransfer.getData('text/plain')) }
    }
  </script>`
/** Moves a block by pointer events, as page builders do. */
const builder = `<!doctype html><div id=block style="width:90px;height:60px;touch-action:none">block</div>
  <div id=canvas style="margin-top:2500px;width:300px;height:300px">canvas</div>
  <script>
    block.onpointerdown = (event) => { event.preventDefault(); window.moving = true }
    onpointerup = ({ clientX, clientY }) => { if (window.moving) window.dropped = document.elementFromPoint(clientX, clientY).id }
  </script>`

/** Places what is dragged between two moves, as builders of web pages do; the frame has elements of another document. */
const frames = `<!doctype html><div id=block draggable=true>block</div><iframe></iframe><script>
  const frame = document.querySelector('iframe').contentDocument
  const rich = Object.assign(document.createElement('h1'), { id: 'rich', textContent: 'Hello', contentEditable: 'true' })
  frame.body.append(rich)
  let place, drawn
  block.ondragstart = ({ dataTransfer }) => dataTransfer.setData('text/plain', 'block')
  frame.ondragover = (event) => {
    event.preventDefault()
    if (drawn) place = event.target.id
    requestAnimationFrame(() => (drawn = true))
  }
  frame.ondrop = (event) => { event.preventDefault(); window.dropped = place }
</script>`

/** A zone that takes the pointer only during a drag, one that a layer covers during it, and one that is always covered. */
const zones = `<!doctype html><style>div { width: 90px; height: 60px; border: 1px solid; position: relative }
    #late { pointer-events: none } .dragging #late { pointer-events: auto }
    #layer { display: none; position: fixed; inset: 0; width: auto; height: auto } .dragging #layer { display: block }
    .dragging.late #layer { display: none }</style>
  <div id=card draggable=true>card</div><div id=late>late</div><div id=under>under</div>
  <div id=veiled>veiled<div id=veil style="position: absolute; inset: 0"></div></div><div id=layer></div>
  <div id=lid style="position: absolute; top: 400px; z-index: 1"></div><div id=covered style="position: absolute; top: 400px">covered</div>
  <script>
    window.log = []
    if (location.search) document.body.classList.add('late')
    card.ondragstart = () => setTimeout(() => document.body.classList.add('dragging'))
    card.ondragend = () => document.body.classList.remove('dragging')
    ondragover = (event) => event.preventDefault()
    ondrop = (event) => log.push(event.target.id)
  </script>`
/** Elements whose points differ: a link over two lines, borders, and a target higher than the window. */
const points = `<!doctype html><body style="margin: 0; font: 20px/30px monospace"><div id=card draggable=true style="width: 60px">card</div>
  <p style="width: 300px; margin: 0">Some words before <a href=/ id=link>a link of two lines</a></p>
  <div id=edged style="border: 30px solid; width: 100px; height: 100px"></div>
  <div id=tall style="height: 3000px"></div>
  <script>
    window.log = []
    ondragover = (event) => event.preventDefault()
    ondrop = (event) => { event.preventDefault(); log.push([event.target.id, event.offsetX, event.offsetY].join()) }
  </script>`
/** Opens another page while the card is still held. */
const leaving = `<!doctype html><div id=card style="width: 90px; height: 60px">card</div><div id=gate style="height: 90px">gate</div>
  <script>gate.onpointermove = ({ buttons }) => { if (buttons) location = '/' }</script>`

const pages = {
  '/': page,
  '/builder': builder,
  '/frames': frames,
  '/zones': zones,
  '/points': points,
  '/leaving': leaving,
}
inUsualHomes(pages, (given) => {
  const log = () => given.evaluate('log.join(" ")')

  test('a drag ends on the target, also on one out of view', async () => {
    for (const id of ['near', 'far']) {
      await given.open('/')
      await given.do('drag_to', { selector: '#card', target_selector: `#${id}` })
      expect(await log()).toBe(`start ${id}:card-7`)
    }
    await given.open('/builder')
    await given.do('drag_to', { selector: '#block', target_selector: '#canvas' })
    expect(await given.evaluate('dropped')).toBe('canvas')
  })

  test('a drag rests on the target, and an editor that a page has moved into a frame takes text', async () => {
    await given.open('/frames')
    await given.do('drag_to', { selector: '#block', target_selector: 'frame=iframe >> #rich' })
    expect(await given.evaluate('dropped')).toBe('rich')
    await given.do('fill', { selector: 'frame=iframe >> #rich', text: 'Other' })
    expect(await given.evaluate('rich.textContent')).toBe('Other')
  })

  test('a drag that the target does not accept is an error', async () => {
    await given.open('/')
    expect(await given.fails('drag_to', { selector: '#card', target_selector: '#closed' })).toMatchObject({
      code: 'action_failed',
      error: '#card was dragged, but #closed did not accept it',
      details: { delivered: true },
    })
    expect(await log()).toBe('start')
  })

  test('a drag ends on a target that takes the pointer only during the drag, or is covered only during it', async () => {
    await given.open('/zones?late')
    await given.do('drag_to', { selector: '#card', target_selector: '#late' })
    expect(await log()).toBe('late')
    await given.open('/zones')
    await given.do('drag_to', { selector: '#card', target_selector: '#under' })
    expect(await log()).toBe('layer')
  })

  test('a target that stays covered is an error that names the cover', async () => {
    await given.open('/zones?late')
    const target = { selector: '#card', target_selector: '#covered', timeout_ms: 700 }
    expect(await given.fails('drag_to', target)).toMatchObject({
      code: 'element_obscured',
      error: '#covered is covered by div#lid',
    })
    // An element in it is a part of the target.
    await given.do('drag_to', { selector: '#card', target_selector: '#veiled' })
    expect(await log()).toContain('veil')
  })

  test('a drag ends at the point of a click: in the first line, inside the border, at a position out of view', async () => {
    await given.open('/points')
    await given.do('drag_to', { selector: '#card', target_selector: '#link' })
    const edged = { selector: '#card', target_selector: '#edged', target_position: { x: 5, y: 7 } }
    await given.do('drag_to', edged)
    await given.do('drag_to', { selector: '#card', target_selector: '#tall', target_position: { x: 50, y: 2500 } })
    expect(await given.evaluate('log.map((entry) => entry.split(",")[0]).join()')).toBe('link,edged,tall')
    expect(await given.evaluate('log.slice(1).join(" ")')).toBe('edged,5,7 tall,50,2500')
  })

  test('a drag may open another page before the release', async () => {
    await given.open('/leaving')
    await given.do('drag_to', { selector: '#card', target_selector: '#gate' })
    await given.do('wait_for', { selector: '#near' })
  })
})
