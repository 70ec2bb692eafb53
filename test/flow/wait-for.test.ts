import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const json = (_: unknown, response: ServerResponse) => {
  response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
}
const pages = {
  '/': `<!doctype html><title>Start</title><p>Loading <b>items</b></p><div id=spinner>Spinner</div><div id=host></div>
    <iframe id=inner srcdoc="<p id=frame-text>In the frame</p>"></iframe><button id=go onclick="load()">Go</button>
    <script>
      host.attachShadow({ mode: 'open' }).innerHTML = '<p>In the shadow</p>'
      const later = (work) => setTimeout(work, 150)
      const load = () => { fetch('/items?page=1'); later(() => {
        spinner.remove(); document.querySelector('p').textContent = 'Welcome back'; window.ready = true
        history.pushState(null, '', '/list/done?tab=1')
      }) }
    </script>`,
  '/items': json,
  '/twice': '<!doctype html><p class=x>One</p><p class=x>Two</p>',
  '/slow': `<!doctype html><img src=/hang>Text`,
  '/hang': () => {},
  '/jump': `<!doctype html><script>setTimeout(() => (location.href = '/done'), 100)</script>`,
  '/done': '<!doctype html><h1>Done</h1>',
}

inUsualHomes(pages, (given) => {
  const late = (data: Record<string, unknown>) => given.fails('wait_for', { timeout_ms: 700, ...data })

  test('wait_for waits for a selector in each of its states', async () => {
    await given.open('/')
    const { results } = await given.run([
      ['click', { selector: '#go' }],
      ['wait_for', { selector: '#spinner', state: 'hidden' }],
      ['wait_for', { selector: '#spinner', state: 'detached' }],
      ['wait_for', { selector: '#go' }],
      ['wait_for', { selector: 'frame=#inner >> #frame-text', state: 'attached' }],
    ])
    expect(results.map(({ success }) => success)).toEqual([true, true, true, true, true])
    expect(results[1]!.data).toEqual({ waited_ms: expect.any(Number) })
  })

  test('wait_for waits for a text, also in frames and shadow roots, and for its end', async () => {
    await given.open('/')
    await given.do('wait_for', { text: 'loading items' })
    await given.do('wait_for', { text: 'In the frame' })
    await given.do('wait_for', { text: 'In the shadow' })
    await given.do('click', { selector: '#go' })
    await given.do('wait_for', { text: 'Welcome' })
    await given.do('wait_for', { text_gone: 'Loading' })
  })

  test('wait_for waits for a URL, a function, a response and a time', async () => {
    await given.open('/')
    await given.do('click', { selector: '#go' })
    expect(await given.do('wait_for', { response: '**/items?page=*' })).toMatchObject({
      url: given.url('/items?page=1'),
      status_code: 201,
    })
    expect(await given.do('wait_for', { url: '**/done*' })).toMatchObject({ url: given.url('/list/done?tab=1') })
    expect(await given.do('wait_for', { url: '**tab=1**' })).toMatchObject({ url: given.url('/list/done?tab=1') })
    expect((await given.fails('wait_for', { url: '*tab=1*', timeout_ms: 300 })).code).toBe('timeout')
    for (const expression of ['window.ready', '() => window.ready', 'async () => document.title === "Start"'])
      await given.do('wait_for', { function: expression })
    const { waited_ms } = await given.do('wait_for', { milliseconds: 120 })
    expect(waited_ms).toBeGreaterThanOrEqual(115)
    await given.do('wait_for', { load: 'networkidle' })
  })

  test('wait_for outlives a navigation', async () => {
    await given.open('/jump')
    await given.do('wait_for', { text: 'Done' })
    await given.open('/jump')
    expect(await given.do('wait_for', { url: '**/done' })).toMatchObject({ url: given.url('/done') })
    await given.open('/jump')
    await given.do('wait_for', { function: 'document.querySelector("h1")?.textContent === "Done"' })
    await given.open('/jump')
    await given.do('wait_for', { selector: 'h1' })
  })

  test('wait_for leaves the navigation to a later wait_for_navigation', async () => {
    await given.open('/jump')
    await given.do('wait_for', { url: '**/done' })
    expect(await given.do('wait_for_navigation')).toEqual({ url: given.url('/done') })
  })

  test('wait_for reports what there was instead', async () => {
    await given.open('/')
    const origin = given.url('')
    expect(await late({ selector: '#none' })).toMatchObject({
      code: 'element_not_found',
      error: 'no element matches #none',
    })
    expect(await late({ selector: '#spinner', state: 'hidden' })).toMatchObject({
      code: 'timeout',
      error: '#spinner is still visible after 700 ms',
    })
    expect(await late({ text: 'Welcome' })).toMatchObject({
      code: 'timeout',
      error: `"Welcome" did not appear within 700 ms; ${origin}/ shows "Loading items Spinner Go"`,
    })
    expect((await late({ text_gone: 'loading' })).error).toBe(
      '"loading" is still visible after 700 ms: "Loading items"',
    )
    expect((await late({ url: '**/done' })).error).toBe(`the URL did not match **/done within 700 ms: it is ${origin}/`)
    expect((await late({ function: 'document.title.length > 10 || 0' })).error).toBe(
      'the function was not true within 700 ms: its value is 0',
    )
    expect((await late({ response: '**/other' })).error).toMatch(
      /^no response from \*\*\/other arrived within 700 ms: \d+ others? did, the last one from http/,
    )
    await given.open('/twice')
    expect((await late({ selector: '.x', state: 'detached' })).error).toBe(
      '.x is still in the page after 700 ms (2 matches)',
    )
  })

  test('wait_for reports requests that keep a page from loading', async () => {
    await given.open('/')
    const { requests } = given.site()
    const before = requests.length
    await given.evaluate(`void (location.href = '/slow')`)
    await expect.poll(() => requests.slice(before)).toContain('/hang')
    const { error, code } = await late({ load: 'load' })
    expect({ error, code }).toEqual({
      error: `the page did not reach load within 700 ms: 1 request is open: ${given.url('/hang')}`,
      code: 'timeout',
    })
  })

  test('wait_for reports errors of its conditions at once', async () => {
    await given.open('/')
    expect(await given.fails('wait_for', { selector: '[[', state: 'hidden' })).toMatchObject({
      code: 'invalid_selector',
    })
    expect(await given.fails('wait_for', { function: 'nothing.there' })).toMatchObject({ code: 'evaluate_failed' })
    expect(await given.fails('wait_for', { selector: 'ref=e9999' })).toMatchObject({ code: 'stale_ref' })
  })

  test('wait_for needs exactly one condition', async () => {
    const message = 'needs exactly one of selector, text, text_gone, url, load, function, milliseconds, response'
    for (const data of [{}, { selector: 'a', text: 'b' }]) {
      await expect(given.run([['wait_for', data]])).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'commands[0].data', message }],
      })
    }
    await expect(given.run([['wait_for', { text: 'a', state: 'hidden' }]])).rejects.toMatchObject({
      details: [{ path: 'commands[0].data.state', message: 'needs a selector' }],
    })
  })

  test('wait_for finds a URL that opens in a new tab', async () => {
    await given.open('/')
    await given.evaluate(`setTimeout(() => open('/done'), 100)`)
    expect(await given.do('wait_for', { url: '**/done' })).toMatchObject({ url: given.url('/done') })
  })
})
