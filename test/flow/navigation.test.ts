import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/** Pages that begin a navigation to no other page before they have loaded. */
const staying = {
  '/to-file': '<!doctype html><title>To file</title><script>location.href = "/file"</script><img src=/missing.png>',
  '/to-nothing': '<!doctype html><title>To nothing</title><script>location.href = "/nothing"</script>',
  '/to-mail': '<!doctype html><title>To mail</title><script>location.href = "mailto:ada@example.org"</script>',
  '/to-program': '<!doctype html><title>To program</title><script>location.href = "zoommtg://join"</script>',
  '/to-form':
    '<!doctype html><title>To form</title><form action=/file></form><script>document.forms[0].submit()</script>',
}

/** Pages that never load. */
const unloaded = {
  '/image': '<!doctype html><h1>Here</h1><img src=/hang>',
  '/script': '<!doctype html><h1>Here</h1><script src=/hang></script>',
  '/endless': (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<!doctype html><h1>Here</h1>')
  },
}

const pages = {
  ...unloaded,
  '/': '<!doctype html><title>Start</title><a id=next href=/next>Next</a><a id=hash href=#part>Part</a>',
  '/next': '<!doctype html><title>Next</title><h1>Next page</h1>',
  '/moved': (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(302, { location: '/next' }).end()
  },
  '/loop': (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(302, { location: '/loop' }).end()
  },
  '/hang': () => {},
  // Longer than a page that hangs has to respond during a navigation.
  '/slow': (_: unknown, response: import('node:http').ServerResponse) => {
    setTimeout(() => response.end('<title>Slow</title><script>document.title += " and read"</script>'), 5000)
  },
  '/onward': '<!doctype html><title>Onward</title><script>location.href = "/next"</script>',
  '/file': (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename=a.txt' }).end('text')
  },
  '/nothing': (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(204).end()
  },
  ...staying,
  '/to-closed': '<!doctype html><title>To closed</title><script>location.href = "http://127.0.0.1:9/"</script>',
  '/late': `<!doctype html><title>Late</title><div id=hidden hidden>hidden</div>
    <script>
      document.addEventListener('click', () => setTimeout(() => location.href = '/next', 50))
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const late = document.createElement('p'); late.id = 'late'; document.body.append(late); late.textContent = 'late'
        document.querySelector('#hidden').hidden = false
      }))
    </script>`,
  '/frames': `<!doctype html><iframe id=inner src=/late></iframe><div id=host></div>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<p id=deep>deep</p>'</script>`,
}

inUsualHomes(pages, (given) => {
  test('navigate_to opens a URL, and returns the final URL and status', async () => {
    expect(await given.do('navigate_to', { url: given.url('/moved') })).toEqual({
      url: given.url('/next'),
      status_code: 200,
    })
    expect(await given.do('navigate_to', { url: given.url('/missing') })).toMatchObject({ status_code: 404 })
  })

  test('navigate_to follows a page that redirects by script', async () => {
    await given.open('/onward')
    await given.do('wait_for_element', { selector: 'h1' })
    expect(await given.value('get_title')).toBe('Next')
  })

  test.each(Object.entries(staying))('navigate_to opens %s, which leads to no other page', async (path, html) => {
    const [, title] = /<title>(.*)<\/title>/.exec(html)!
    expect(await given.do('navigate_to', { url: given.url(path) })).toEqual({ url: given.url(path), status_code: 200 })
    expect(await given.value('get_title')).toBe(title)
    // Later waits know it as well.
    await given.do('wait_for', { load: 'load' })
    expect(await given.do('refresh')).toEqual({ url: given.url(path), status_code: 200 })
    await given.open('/')
    const navigate = `setTimeout(() => { location.href = ${JSON.stringify(path)} })`
    await given.do('evaluate', { expression: `document.onclick = () => ${navigate}` })
    await given.do('click_at', { x: 400, y: 300 })
    expect(await given.do('wait_for_navigation')).toEqual({ url: given.url(path) })
    expect(await given.do('go_back')).toEqual({ url: given.url('/') })
    expect(await given.do('go_forward')).toEqual({ url: given.url(path) })
  })

  test('navigate_to and waits fail for a page that leads to an error', async () => {
    const { code, error, hint } = await given.fails('navigate_to', { url: given.url('/to-closed') })
    expect({ code, error }).toEqual({ code: 'url_blocked', error: 'browsers block this port' })
    expect(hint).toBe('the page leads to another URL, which could not be opened')
    expect((await given.fails('wait_for', { load: 'load' })).code).toBe('url_blocked')
  })

  test('navigate_to rejects URLs that are not HTTP', async () => {
    const { code, error } = await given.fails('navigate_to', { url: 'file:///etc/passwd' })
    expect({ code, error }).toEqual({ code: 'url_blocked', error: 'URL blocked' })
    expect((await given.fails('navigate_to', { url: 'chrome://version' })).code).toBe('url_blocked')
  })

  test('navigate_to with an invalid URL is rejected before anything runs, and creates no session', async () => {
    const count = async () => (await given.client().listSessions({})).total
    const before = await count()
    const commands = [{ command: 'get_title' }, { command: 'navigate_to', data: { url: 'not an address' } }]
    await expect(given.client().runCommands({ commands })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'commands[1].data.url', message: 'is not a URL' }],
    })
    expect(await count()).toBe(before)
  })

  test('navigate_to reports why a URL could not be opened', async () => {
    const closed = await given.fails('navigate_to', { url: 'http://127.0.0.1:9/' })
    expect(closed.code).toMatch(/connection_failed|url_blocked/)
    expect((await given.fails('navigate_to', { url: 'http://nowhere.invalid/' })).code).toBe('dns_failed')
    expect((await given.fails('navigate_to', { url: given.url('/loop') })).code).toBe('too_many_redirects')
    expect((await given.fails('navigate_to', { url: given.url('').replace('http', 'https') })).code).toBe('tls_error')
    expect((await given.fails('navigate_to', { url: given.url('/file') })).code).toBe('navigation_aborted')
    const hung = await given.fails('navigate_to', { url: given.url('/hang'), timeout_ms: 300 })
    const error = `the page did not answer within 300 ms: 1 request is open: ${given.url('/hang')}`
    expect(hung).toMatchObject({ code: 'timeout', error })
  })

  test.each(['another page', 'a page that waits for an answer'])(
    'a page that answers late is requested once, and opened in the same tab: from %s',
    async (from) => {
      await given.open('/')
      const tabs = await given.value('list_tabs')
      const { requests } = given.site()
      const before = requests.length
      if (from !== 'another page') {
        await given.evaluate('void setTimeout(() => { location.href = "/hang" })')
        await expect.poll(() => requests.slice(before)).toContain('/hang')
      }
      await given.open('/slow')
      expect(requests.slice(before).filter((path) => path === '/slow')).toHaveLength(1)
      const [tab] = tabs as object[]
      expect(await given.value('list_tabs')).toEqual([{ ...tab, url: given.url('/slow'), title: 'Slow and read' }])
    },
  )

  test.each([
    ['go_back', '/'],
    ['refresh', '/next'],
  ])('%s stops a navigation that does not arrive', async (command, path) => {
    await given.open('/')
    await given.open('/next')
    const { requests } = given.site()
    const before = requests.length
    await given.evaluate('void setTimeout(() => { location.href = "/hang" })')
    await expect.poll(() => requests.slice(before)).toContain('/hang')
    expect(await given.do(command)).toMatchObject({ url: given.url(path) })
    expect(await given.value('get_title')).toBe(path === '/' ? 'Start' : 'Next')
  })

  test.each(Object.keys(unloaded))('a page that does not load in time can be used: %s', async (path) => {
    const failure = await given.fails('navigate_to', { url: given.url(path), timeout_ms: 4000 })
    const open = given.url(path === '/endless' ? path : '/hang')
    expect(failure).toMatchObject({
      code: 'timeout',
      error: `the page did not load within 4000 ms: 1 request is open: ${open}`,
      hint: 'the page can be used as far as it has loaded',
      details: { url: given.url(path), open: [open] },
    })
    expect(await given.value('get_text', { selector: 'h1' })).toBe('Here')
    await given.open('/next')
  })

  test('the title is that of the current document while a navigation waits for its response', async () => {
    await given.open('/')
    const { requests } = given.site()
    const before = requests.length
    await given.evaluate('void setTimeout(() => { location.href = "/hang" })')
    await expect.poll(() => requests.slice(before)).toContain('/hang')
    expect(await given.value('get_title')).toBe('Start')
  })

  test('refresh reloads the page', async () => {
    await given.open('/')
    await given.evaluate('document.title = "changed"')
    expect(await given.do('refresh')).toEqual({ url: given.url('/'), status_code: 200 })
    expect(await given.value('get_title')).toBe('Start')
  })

  test('wait_for_navigation waits for the navigation of the previous click, finished or not', async () => {
    await given.open('/')
    const { results } = await given.run([
      ['click', { selector: '#next' }],
      ['wait_for_element', { selector: 'h1' }],
      ['get_title'],
      ['wait_for_navigation', { timeout_ms: 5000 }],
    ])
    expect(results.map(({ success }) => success)).toEqual([true, true, true, true])
    await given.open('/late')
    await given.do('click', { selector: 'body' })
    expect(await given.do('wait_for_navigation')).toEqual({ url: given.url('/next') })
    await given.open('/')
    await given.do('click', { selector: '#hash' })
    expect(await given.do('wait_for_navigation')).toEqual({ url: given.url('/#part') })
  })

  test('wait_for_navigation waits for the next navigation, until its timeout', async () => {
    await given.open('/')
    await given.do('click', { selector: 'body' })
    const { code, duration_ms } = await given.fails('wait_for_navigation', { timeout_ms: 400 })
    expect(code).toBe('timeout')
    expect(duration_ms).toBeGreaterThanOrEqual(390)
  })

  test('wait_for_element waits for missing elements, also in frames and shadow roots', async () => {
    await given.open('/late')
    expect(await given.do('wait_for_element', { selector: '#late' })).toEqual({ visible: true })
    expect(await given.do('wait_for_element', { selector: '#hidden', visible_only: true })).toEqual({ visible: true })
    await given.open('/frames')
    expect(await given.do('wait_for_element', { selector: 'frame=#inner >> #late' })).toEqual({ visible: true })
    expect(await given.do('wait_for_element', { selector: '#deep', visible_only: true })).toEqual({ visible: true })
  })

  test('wait_for_element names the missing element', async () => {
    await given.open('/next')
    const { code, error, details } = await given.fails('wait_for_element', { selector: '#never', timeout_ms: 700 })
    expect({ code, error }).toEqual({ code: 'element_not_found', error: 'no element matches #never' })
    expect(details).toMatchObject({ selector: '#never', matched: 0, candidates: [] })
  })
})
