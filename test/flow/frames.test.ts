import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  // The frame is cross-site, and so in another process.
  '/': (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => {
    const { port } = new URL(`http://${request.headers.host}`)
    response.setHeader('content-type', 'text/html').end(`<!doctype html><style>body{margin:0}</style>
      <iframe id=outer src="http://localhost:${port}/outer" style="position:absolute;left:100px;top:50px;width:600px;height:400px;border:0"></iframe>
      <div id=veil style="position:absolute;left:100px;top:350px;width:600px;height:100px;background:#ccc">Veil</div>`)
  },
  '/outer': `<!doctype html><title>Outer</title><style>body{margin:0}</style>
    <input id=q style="position:absolute;left:10px;top:10px"><button id=b style="position:absolute;left:10px;top:60px">Press</button>
    <button id=under style="position:absolute;left:10px;top:330px">Under</button>
    <iframe id=inner src=/inner style="position:absolute;left:10px;top:100px;border:0"></iframe>
    <script>b.onclick = () => { b.textContent = 'Pressed' }</script>`,
  '/inner':
    '<!doctype html><div id=host></div><script>host.attachShadow({mode:"open"}).innerHTML = "<b id=deep>deep</b>"</script>',
}

inUsualHomes(pages, (given) => {
  test('commands work in a cross-site frame', async () => {
    await given.open('/')
    await given.do('type_text', { selector: 'frame=#outer >> #q', text: 'hello' })
    expect(await given.value('get_text', { selector: 'frame=#outer >> #q' })).toBe('hello')
    await given.do('click', { selector: 'frame=#outer >> text=Press' })
    expect(await given.value('get_text', { selector: 'frame=#outer >> #b' })).toBe('Pressed')
    const title = { selector: 'frame=#outer >> :root', expression: 'document.title' }
    expect(await given.value('evaluate_on_element', title)).toBe('Outer')
    expect(await given.value('get_bounding_boxes', { selector: 'frame=#outer >> #b' })).toMatchObject([
      { x: 110, y: 110 },
    ])
  })

  test('selector chains reach nested frames and their shadow roots', async () => {
    await given.open('/')
    expect(await given.value('get_text', { selector: 'frame=#outer >> frame=#inner >> #deep' })).toBe('deep')
  })

  test('failures in a cross-site frame have the same messages', async () => {
    await given.open('/')
    const near = await given.fails('click', { selector: 'frame=#outer >> #bb', timeout_ms: 700 })
    expect(near).toMatchObject({ code: 'element_not_found', details: { matched: 0 } })
    const covered = await given.fails('click', { selector: 'frame=#outer >> #under', timeout_ms: 700 })
    expect(covered).toMatchObject({ code: 'element_obscured', error: expect.stringContaining('veil') })
    const frame = await given.fails('click', { selector: 'frame=#outre >> #b', timeout_ms: 700 })
    expect(frame).toMatchObject({ code: 'element_not_found', error: expect.stringContaining('frame=#outre') })
    expect(frame.error).toContain('#outer')
  })

  test('an element found only in a frame is suggested with its selector', async () => {
    await given.open('/')
    const button = await given.fails('click', { selector: '#b', timeout_ms: 700 })
    expect(button).toMatchObject({
      code: 'element_not_found',
      error: expect.stringContaining('closest: frame=#outer >> #b'),
      details: { candidates: [{ selector: 'frame=#outer >> #b', element: 'button#b "Press"' }] },
    })
    const deep = await given.fails('get_text', { selector: '#deep', timeout_ms: 700 })
    expect(deep.error).toContain('closest: frame=#outer >> frame=#inner >> #deep')
    expect(await given.value('get_text', { selector: 'frame=#outer >> frame=#inner >> #deep' })).toBe('deep')
  })

  test('a script that hangs a cross-site frame is aborted', async () => {
    await given.open('/')
    const hang = { selector: 'frame=#outer >> #b', expression: 'function () { while (true) {} }', timeout_ms: 300 }
    expect((await given.fails('evaluate_on_element', hang)).code).toBe('timeout')
    expect(await given.value('get_text', { selector: 'frame=#outer >> #b' })).toBe('Press')
  })
})
