import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf } from '../support/call.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { pageProcesses } from '../support/processes.ts'
import { type Site, serveSite } from '../support/site.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'
import { freePort } from '../support/ports.ts'
import { article, rawServer, redirectTo, respondWith, untrustedServer } from '../support/web.ts'

const sendSlowly = (response: import('node:http').ServerResponse, text: string) => {
  const timer = setInterval(() => response.write(text), 20)
  response.on('close', () => clearInterval(timer))
}

const pages: Parameters<typeof serveSite>[0] = {
  '/article': article,
  '/loop': redirectTo('/loop'),
  '/a': redirectTo('/b', 301),
  '/b': redirectTo('/c?x=ü', 307),
  '/c': '<!doctype html><title>C</title><main><p>Arrived at the end of the chain.</p></main>',
  '/to-file': redirectTo('file:///etc/passwd'),
  '/to-nowhere': redirectTo('http://'),
  '/cookie': (request, response) => {
    const done = request.headers.cookie === 'seen=1'
    response.writeHead(
      done ? 200 : 302,
      done ? { 'content-type': 'text/html' } : { location: '/cookie', 'set-cookie': 'seen=1; Path=/' },
    )
    response.end(done ? '<p>Welcome back</p>' : '')
  },
  '/refresh': '<!doctype html><meta http-equiv="refresh" content="0; url=/c"><p>You will be sent on.</p>',
  '/refresh-header': respondWith('text/html', '<p>You will be sent on.</p>', { refresh: '0; url=/c' }),
  '/refresh-header-later': respondWith('text/html', '<p>You will be sent on.</p>', { refresh: "1;URL='c'" }),
  '/refresh-header-itself': respondWith('text/html', '<main><p>Reloads itself.</p></main>', { refresh: '1' }),
  '/to-nothing': respondWith('text/html', '<main><p>Stays here.</p></main>', { location: '' }, 302),
  '/refresh-loop':
    '<!doctype html><meta http-equiv="Refresh" content="0;URL=\'/refresh-loop?again\'"><p>Round and round</p>',
  '/refresh-itself':
    '<!doctype html><meta http-equiv="refresh" content="1;url=/refresh-itself#top"><p>Reloads itself.</p>',
  '/refresh-to-slow':
    '<!doctype html><meta http-equiv="refresh" content="1;url=/slow-page"><p>You will be sent on.</p>',
  '/slow-page': (_, response) => {
    // Later than a page would count as stable.
    setTimeout(() => respondWith('text/html', '<p>Arrived late.</p>')(_, response), limits.scrape.settleMs + 500)
  },
  '/download.zip': respondWith('application/zip', 'PK', { 'content-disposition': 'attachment; filename=a.zip' }),
  '/refresh-to-download':
    '<!doctype html><meta http-equiv="refresh" content="1;url=/download.zip"><p>Your download starts soon.</p>',
  // Large enough to be read in a worker thread.
  '/large-refresh-to-download': `<!doctype html><meta http-equiv="refresh" content="0;url=/download.zip"><p>Your download starts soon.</p>${'<p>More about it.</p>'.repeat(limits.reading.large / 16)}`,
  '/header-to-download': respondWith('text/html', '<p>Your download starts soon.</p>', {
    refresh: '0;url=/download.zip',
  }),
  '/script-to-download': '<!doctype html><p>Your download starts now.</p><script>location = "/download.zip"</script>',
  '/script-to-download-later':
    '<!doctype html><p>Your download starts now.</p><script>setTimeout(() => location = "/download.zip", 300)</script>',
  '/refresh-to-nothing':
    '<!doctype html><meta http-equiv="refresh" content="0;url=/no-content"><p>Nothing follows.</p>',
  '/script-to-nothing': '<!doctype html><p>Nothing follows.</p><script>location = "/no-content"</script>',
  '/refresh-late': '<!doctype html><meta http-equiv="refresh" content="300"><main><p>Reloads now and then.</p></main>',
  '/private': (request, response) => {
    const known = request.headers.authorization === `Basic ${Buffer.from('ada:pä').toString('base64')}`
    response.writeHead(known ? 200 : 401, { 'content-type': 'text/html' })
    response.end(known ? '<p>Hello Ada</p>' : '<p>Who are you?</p>')
  },
  '/never': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    sendSlowly(response, '<p>more</p>')
  },
  '/silent': () => {},
  '/large': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': String(11 * 1024 * 1024) })
    response.write('x')
  },
  '/larger': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const chunk = 'x'.repeat(1024 * 1024)
    const more = () => response.destroyed || response.write(chunk, more)
    more()
  },
  '/bomb': respondWith('text/html', gzipSync(Buffer.alloc(64 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' })
    response.write('<p>The beginning')
    setImmediate(() => response.destroy())
  },
  '/torn': respondWith('text/html', Buffer.from('this is not gzip'), { 'content-encoding': 'gzip' }),
  '/spin': '<!doctype html><title>Spin</title><p>Before the loop.</p><script>for (;;);</script><p>After it.</p>',
  '/spin-later': '<!doctype html><p id="x">Calm at first.</p><script>setTimeout(() => { for (;;); }, 30)</script>',
  '/dialogs':
    '<!doctype html><div id="o"></div><script>alert(1); o.textContent = "answers: " + confirm("?") + " " + prompt("?"); addEventListener("beforeunload", (e) => e.preventDefault())</script>',
  '/attachment': respondWith('text/html', '<p>x</p>', { 'content-disposition': 'attachment; filename=x.html' }),
  '/chain-script': '<!doctype html><div id="root"></div><script>location.href = "/c"</script>',
  '/grow':
    '<!doctype html><div id="root"></div><script>setInterval(() => root.append(Math.random() + " "), 5)</script>',
  '/hang': '<!doctype html><p>Waits for a script.</p><script src="/slow.js"></script>',
  '/slow.js': () => {},
  '/no-content': (_, response) => response.writeHead(204).end(),
}

let homes: Homes
let site: Site
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite(pages)
})
afterAll(async () => {
  await homes.close()
  await Promise.all([site.close(), ...closers.map((close) => close())])
})

const scrape = (url: string, input: Record<string, unknown> = {}) =>
  homes.clients.http.scrape({ url: url.startsWith('/') ? `${site.url}${url}` : url, ...input } as never)

const failure = (code: string) => ({ success: false, code, error: expect.any(String) })

async function raw(answer: Parameters<typeof rawServer>[0]) {
  const server = await rawServer(answer)
  closers.push(server.close)
  return server
}

describe.each(['http', 'browser'])('with render %s', (render) => {
  test('follows a chain of redirects, and reports it', async () => {
    const { data } = await scrape('/a#part', { render })
    expect(data!.markdown).toContain('Arrived at the end')
    expect(data!.metadata).toMatchObject({
      url: `${site.url}/c?x=%FC#part`,
      redirects: [
        { url: expect.stringContaining('/a'), status: 301 },
        { url: expect.stringContaining('/b'), status: 307 },
      ],
    })
  })

  test('follows meta refresh as a redirect', async () => {
    const { data } = await scrape('/refresh', { render })
    expect(data!.metadata).toMatchObject({
      url: `${site.url}/c`,
      redirects: [{ url: `${site.url}/refresh`, status: 200 }],
    })
  })

  test.each(['/refresh-header', '/refresh-header-later'])('follows the header of %s as a redirect', async (path) => {
    const { data } = await scrape(path, { render })
    expect(data!.metadata).toMatchObject({
      url: `${site.url}/c`,
      redirects: [{ url: `${site.url}${path}`, status: 200 }],
    })
  })

  test('reads a page that its header reloads', async () => {
    expect((await scrape('/refresh-header-itself', { render })).data!.markdown).toBe('Reloads itself.\n')
  })

  test('follows a redirect to a page that answers slowly', async () => {
    const { data } = await scrape('/refresh-to-slow', { render })
    expect(data).toMatchObject({ markdown: 'Arrived late.\n', metadata: { url: `${site.url}/slow-page` } })
  })

  const isBrowser = render === 'browser'
  test.each([
    '/refresh-to-download',
    '/header-to-download',
    ...(isBrowser ? ['/script-to-download', '/script-to-download-later'] : ['/large-refresh-to-download']),
  ])('reads %s, whose download begins by itself', async (path) => {
    expect(await scrape(path, { render })).toMatchObject({
      success: true,
      warning: `the page leads to ${site.url}/download.zip, which cannot be read as a page`,
      data: {
        markdown: expect.stringMatching(/^Your download starts/),
        metadata: { url: site.url + path, status_code: 200, redirects: [] },
      },
    })
  })

  test.each(['/refresh-to-nothing', ...(isBrowser ? ['/script-to-nothing'] : [])])(
    'reads %s, which leads to a response without content',
    async (path) => {
      const answer = await scrape(path, { render })
      expect(answer).toMatchObject({
        data: { markdown: 'Nothing follows.\n', metadata: { url: site.url + path, status_code: 200, redirects: [] } },
      })
      expect(answer).not.toHaveProperty('warning')
    },
  )

  test('reads a page that its element reloads', async () => {
    expect(await scrape('/refresh-itself', { render })).toMatchObject({
      data: { markdown: 'Reloads itself.\n', metadata: { redirects: [] } },
    })
  })

  test('reads the page of a redirect without a target', async () => {
    expect((await scrape('/to-nothing', { render })).data!.markdown).toBe('Stays here.\n')
  })

  test('does not wait for a page that reloads itself periodically', async () => {
    expect((await scrape('/refresh-late', { render })).data!.markdown).toBe('Reloads now and then.\n')
  })

  test('sends cookies set by a redirect', async () => {
    expect((await scrape('/cookie', { render })).data!.markdown).toBe('Welcome back\n')
  })

  test('stops after too many redirects', async () => {
    expect(await scrape('/loop', { render })).toMatchObject(failure('too_many_redirects'))
  })

  test('rejects a redirect to a file', async () => {
    await expect(scrape('/to-file', { render })).rejects.toMatchObject({ code: 'url_blocked' })
  })

  test('fails for an unknown host name', async () => {
    expect(await scrape('http://no-such-host.invalid/', { render })).toMatchObject(failure('dns_failed'))
  })

  test('fails for a closed port', async () => {
    const answer = await scrape(`http://127.0.0.1:${await freePort()}/`, { render })
    expect(answer).toMatchObject(failure('connection_failed'))
    expect(answer.error).not.toContain('127.0.0.1')
  })

  testUnless(missingPrograms('openssl'))('fails for an untrusted certificate', async () => {
    const server = await untrustedServer()
    closers.push(server.close)
    expect(await scrape(server.url, { render })).toMatchObject(failure('tls_error'))
  })

  test('fails for a server without TLS', async () => {
    expect(await scrape(site.url.replace('http:', 'https:'), { render })).toMatchObject(failure('tls_error'))
  })

  test('fails when the server closes the connection', async () => {
    const server = await raw((socket) => socket.resetAndDestroy())
    expect(await scrape(server.url, { render })).toMatchObject(failure('connection_failed'))
  })

  test('fails for a response that is not HTTP', async () => {
    const server = await raw((socket) => socket.end('\u0000\u0001 garbage\r\n\r\n'))
    expect(await scrape(server.url, { render })).toMatchObject(failure('connection_failed'))
  })

  test('times out when the server does not respond', async () => {
    const start = performance.now()
    await expect(scrape('/silent', { render, timeout: 600 })).rejects.toMatchObject({ code: 'timeout', status: 408 })
    expect(performance.now() - start).toBeLessThan(limits.scrape.timeoutMs)
  })

  test('fails for a port blocked by browsers', async () => {
    await expect(scrape('http://127.0.0.1:25/', { render })).rejects.toMatchObject({ code: 'url_blocked' })
  })

  test('reports an error status for a wrong password', async () => {
    expect((await scrape('/private', { render })).data!.metadata).toMatchObject({
      status_code: 401,
      error: 'Unauthorized',
    })
  })
})

describe('over HTTP', () => {
  // The engine remembers hosts whose pages all need a browser: no page of this one does.
  let plain: Site
  beforeAll(async () => {
    plain = await serveSite(pages)
  })
  afterAll(() => plain.close())

  test('sends credentials of the URL', async () => {
    const url = `${plain.url.replace('//', `//ada:${encodeURIComponent('pä')}@`)}/private`
    expect((await scrape(url)).data!.markdown).toBe('Hello Ada\n')
  })

  test('stops a cycle of meta refresh', async () => {
    const answer = await scrape('/refresh-loop', { render: 'http' })
    expect(answer).toMatchObject({ success: true, data: { metadata: { url: `${site.url}/refresh-loop?again` } } })
  })

  test('fails for a redirect to an invalid URL', async () => {
    expect(await scrape('/to-nowhere', { render: 'http' })).toMatchObject(failure('connection_failed'))
  })

  test('times out on an endless response', async () => {
    await expect(scrape('/never', { render: 'http', timeout: 500 })).rejects.toMatchObject({ code: 'timeout' })
  })

  test.each(['/large', '/larger', '/bomb'])('rejects %s as too large', async (path) => {
    expect(await scrape(plain.url + path)).toMatchObject(failure('content_too_large'))
  })

  test.each(['/cut', '/torn'])('fails for %s, which is truncated', async (path) => {
    expect(await scrape(plain.url + path)).toMatchObject(failure('connection_failed'))
  })

  test('retries once when the connection is reset before the first byte, and only then', async () => {
    const second = await raw((socket, connection) => {
      if (connection === 1) socket.resetAndDestroy()
      else
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>At the second knock</p>')
    })
    expect((await scrape(second.url)).data!.markdown).toBe('At the second knock\n')
    const never = await raw((socket) => socket.resetAndDestroy())
    expect(await scrape(never.url)).toMatchObject(failure('connection_failed'))
    expect(never.connections()).toBe(2)
    const midway = await raw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 99\r\n\r\nhalf', () =>
        socket.resetAndDestroy(),
      ),
    )
    expect(await scrape(midway.url)).toMatchObject(failure('connection_failed'))
    expect(midway.connections()).toBe(1)
    const partial = await raw((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-', () => socket.resetAndDestroy()))
    expect(await scrape(partial.url)).toMatchObject(failure('connection_failed'))
    expect(partial.connections()).toBe(1)
  })

  test('retries on idle connections that the server has closed', async () => {
    const page = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<p>Here</p>'
    // Each connection answers one request and closes on the next one, as if its idle timeout ended at that moment.
    const impatient = await raw((socket) => {
      socket.write(page)
      socket.once('data', () => socket.resetAndDestroy())
    })
    const together = () => Promise.all(Array.from({ length: 4 }, () => scrape(impatient.url, { render: 'http' })))
    for (const answers of [await together(), await together(), await together()])
      for (const answer of answers) expect(answer.data!.markdown).toBe('Here\n')
  })

  test('returns an empty page for 204', async () => {
    expect(await scrape('/no-content', { render: 'http' })).toMatchObject({
      success: true,
      data: { markdown: '', metadata: { status_code: 204 } },
    })
  })
})

describe('in a browser', () => {
  // Mostly waiting: the first three run concurrently.
  test.concurrent('stops an endless script, and reads the page', async () => {
    const answer = await scrape('/spin', { render: 'browser' })
    expect(answer.data!.markdown).toContain('Before the loop.')
    expect(answer.warning).toContain('script')
  })

  test.concurrent('stops an endless script that starts later', async () => {
    const answer = await scrape('/spin-later', { render: 'browser' })
    expect(answer.data!.markdown).toContain('Calm at first.')
    expect(answer.warning).toContain('script')
  })

  test.concurrent('reads a page that keeps changing', async () => {
    expect((await scrape('/grow')).data!.markdown).toMatch(/^0\.\d/)
  })

  test('answers dialogs', async () => {
    expect((await scrape('/dialogs')).data!.markdown).toBe('answers: false null\n')
  })

  test('fails for a download', async () => {
    expect((await scrape('/attachment', { render: 'browser' })).data!.markdown).toBe('x\n')
  })

  test('fails when the renderer crashes, and continues with other pages in the same browser', async () => {
    const scraping = scrape('/hang', { render: 'browser' })
    await expect.poll(() => site.requests.includes('/slow.js')).toBe(true)
    const browsers = await ownBrowsers()
    for (const pid of (await Promise.all(browsers.map(pageProcesses))).flat()) process.kill(pid, 'SIGKILL')
    expect(await scraping).toMatchObject(failure('page_crashed'))
    expect((await scrape('/article', { render: 'browser' })).data!.markdown).toContain('How deltas grow')
    expect(await ownBrowsers()).toEqual(expect.arrayContaining(browsers))
  })

  test('replaces idle pages whose renderers have ended, however many', async () => {
    const article = () => scrape('/article', { render: 'browser' })
    await Promise.all([article(), article(), article(), article()])
    const browsers = await ownBrowsers()
    for (const pid of (await Promise.all(browsers.map(pageProcesses))).flat()) process.kill(pid, 'SIGKILL')
    const answers = await Promise.all([article(), article(), article(), article()])
    expect(answers.map(({ code }) => code)).toEqual([undefined, undefined, undefined, undefined])
    expect(await ownBrowsers()).toEqual(expect.arrayContaining(browsers))
  })

  test('follows navigation by a script as a redirect', async () => {
    const { data } = await scrape('/chain-script')
    expect(data!.metadata).toMatchObject({
      url: `${site.url}/c`,
      redirects: [{ url: `${site.url}/chain-script`, status: 200 }],
    })
  })

  test('failing pages do not affect concurrent ones', async () => {
    const all = await Promise.all(
      ['/spin', '/article', '/loop', '/dialogs', '/article'].map((path) => scrape(path, { render: 'browser' })),
    )
    expect(all.map(({ success }) => success)).toEqual([true, true, false, true, true])
  })

  test('cancels the scrape when its caller disconnects', async () => {
    const leaving = new AbortController()
    const input = { url: `${site.url}/article`, actions: [{ type: 'wait' as const, milliseconds: 30_000 }] }
    const scraping = homes.engine.extractor.scrape(
      (await import('../../src/core/shapes/scrape.ts')).scrapeInput.parse(input),
      callOf(undefined, leaving.signal),
    )
    leaving.abort(new Error('gone'))
    await expect(scraping).rejects.toThrow('gone')
  })
})

/** Returns the browsers that this process has started. */
async function ownBrowsers(): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return status.includes(`PPid:\t${process.pid}\n`) && command.includes('bax-browser-') ? [pid] : []
    }),
  )
  return found.flat()
}
