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

inUsualHomes({ '/': page, '/builder': builder, '/frames': frames }, (given) => {
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
})
