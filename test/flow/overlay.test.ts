import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>One</title><style>body{margin:0} button{position:absolute;left:20px;width:120px;height:40px}</style>
    <button id=a style="top:20px">First</button><button id=b style="top:100px">Second</button><p style="margin-top:200px">Text</p>
    <div id=host></div><iframe id=inner src=/inner style="position:absolute;top:300px;left:20px;border:0"></iframe>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<button id=deep style="position:absolute;top:20px;left:300px">Deep</button>'</script>`,
  '/two': '<!doctype html><title>Two</title><button style="margin:50px">Only</button>',
  '/inner': '<!doctype html><button id=in>Inside</button>',
}

inUsualHomes(pages, (given) => {
  const takeScreenshot = async () => (await given.do('screenshot', { full_page: false }))['screenshot']
  const layout = () =>
    given.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.scrollHeight, a.getBoundingClientRect().top]',
    )

  test('toggle_click_overlay marks clicks in screenshots, also after navigations, until it is disabled', async () => {
    await given.open('/')
    await given.do('move_mouse_to', { x: 600, y: 600 })
    const before = await takeScreenshot()
    const size = await layout()
    await given.do('toggle_click_overlay', { enabled: true })
    await given.do('click', { selector: 'p' })
    expect(await takeScreenshot()).not.toBe(before)
    expect(await layout()).toEqual(size)
    await given.do('toggle_click_overlay', { enabled: false })
    expect(await takeScreenshot()).toBe(before)

    await given.do('toggle_click_overlay', { enabled: true })
    await given.open('/two')
    const plain = await takeScreenshot()
    await given.do('click_at', { x: 400, y: 400 })
    expect(await takeScreenshot()).not.toBe(plain)
    await given.do('toggle_click_overlay', { enabled: false })
  })

  test('overlays receive no events and are hidden from scripts', async () => {
    await given.open('/')
    await given.do('toggle_click_overlay', { enabled: true })
    await given.do('toggle_bounding_boxes', { enabled: true })
    await given.evaluate('window.hits = []; document.addEventListener("click", ({target}) => hits.push(target.id))')
    await given.do('click', { selector: '#a' })
    await given.do('click_at', { x: 80, y: 120 })
    expect(await given.evaluate('hits')).toEqual(['a', 'b'])
    expect(await given.evaluate('document.querySelector("bax-overlay").shadowRoot')).toBeNull()
    await given.do('toggle_bounding_boxes', { enabled: false })
    await given.do('toggle_click_overlay', { enabled: false })
    expect(await given.evaluate('document.querySelector("bax-overlay")')).toBeNull()
  })

  test('toggle_bounding_boxes says when there is nothing to draw', async () => {
    await given.open('/')
    const { results } = await given.run([['toggle_bounding_boxes', { enabled: true, selector: '.none' }]])
    expect(results[0]).toMatchObject({ success: true, data: { boxes: [] }, warning: 'no element matches .none' })
    await given.do('toggle_bounding_boxes', { enabled: false })
  })

  test('toggle_bounding_boxes draws numbered boxes around controls, and returns them', async () => {
    await given.open('/')
    const before = await takeScreenshot()
    const { boxes } = await given.do('toggle_bounding_boxes', { enabled: true })
    expect(boxes).toMatchObject([
      { index: 0, tag: 'button', text: 'First', x: 20, y: 20, width: 120, height: 40, visible: true },
      { index: 1, text: 'Second' },
      { index: 2, text: 'Deep' },
      { index: 3, text: 'Inside', x: 28, y: 308 },
    ])
    expect(await takeScreenshot()).not.toBe(before)
    expect(await given.do('toggle_bounding_boxes', { enabled: false })).toEqual({ boxes: [] })
    expect(await takeScreenshot()).toBe(before)
  })

  test('toggle_bounding_boxes accepts a selector, a limit and include_html', async () => {
    await given.open('/')
    const some = await given.do('toggle_bounding_boxes', {
      enabled: true,
      selector: '#a, #b',
      limit: 1,
      include_html: true,
    })
    expect(some['boxes']).toMatchObject([{ index: 0, text: 'First', html: expect.stringContaining('<button id="a"') }])
    const inside = await given.do('toggle_bounding_boxes', { enabled: true, selector: 'frame=#inner >> button' })
    expect(inside['boxes']).toMatchObject([{ text: 'Inside', x: 28, y: 308 }])
    expect(await given.fails('toggle_bounding_boxes', { enabled: true, selector: '[[' })).toMatchObject({
      code: 'invalid_selector',
    })
    await given.do('toggle_bounding_boxes', { enabled: false })
  })

  test('boxes are drawn again after a navigation while they are enabled', async () => {
    await given.open('/two')
    const plain = await takeScreenshot()
    await given.open('/')
    await given.do('toggle_bounding_boxes', { enabled: true, selector: 'button' })
    await given.open('/two')
    expect(await takeScreenshot()).not.toBe(plain)
    await given.do('toggle_bounding_boxes', { enabled: false })
    expect(await takeScreenshot()).toBe(plain)
  })
})
