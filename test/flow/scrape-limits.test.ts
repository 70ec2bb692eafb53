/** Limits of a scrape: pages that hang, pages without main content, advertisements. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { scrapeInput } from '../../src/core/shapes/scrape.ts'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'
import { serveSite, type Site } from '../support/site.ts'

const grow = "document.getElementById('text').textContent = '\\u0001'.repeat(100e6)"

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/hung':
      '<!doctype html><title>Hung</title><main><h1>Hung</h1><p>Here before the script.</p></main><script src="/never.js"></script><p>After it.</p>',
    '/never.js': () => {},
    '/never': () => {},
    '/half': (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html' })
        .write('<!doctype html><title>Half</title><h1>Half</h1><p>Said so far.</p>'),
    '/menu': `<!doctype html><title>Menu</title><nav>${['Home', 'Shop', 'Login', 'Contact'].map((name) => `<a href="/${name}"><img src="/${name}.png" alt="${name}"></a>`).join(' ')}</nav>`,
    '/blank': '<!doctype html><title>Blank</title>',
    // 600 MB as JSON, which exceeds the maximum string length; once in the document, once in a shadow tree.
    '/grown': `<!doctype html><title>Grown</title><p id=text hidden></p><script>${grow}</script>`,
    '/shadow': `<!doctype html><title>Grown</title><p id=text hidden></p><script>${grow};document.body.attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>'</script>`,
    // Outside of the text of the document, where only its HTML is too large.
    '/attribute': `<!doctype html><title>Grown</title><p id=text>Short</p><script>text.title = 'x'.repeat(25e6)</script>`,
    '/inside': `<!doctype html><title>Grown</title><p id=text hidden></p><script>text.attachShadow({ mode: 'open' }).append('x'.repeat(25e6))</script>`,
  })
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

const url = (path: string) => `${site.url}${path}`
const run = (path: string, ...flags: string[]) =>
  bax(['scrape', url(path), ...flags, '--embedded', '--state-dir', join(homes.stateDir, 'own')])

test('the action that exceeds the limit for all results fails', async () => {
  const execute = { type: 'execute', script: `'x'.repeat(${limits.scrape.productChars / 4 + 1})` } as const
  const actions = [execute, execute, execute, execute]
  expect(await homes.clients.http.scrape({ url: url('/blank'), actions })).toMatchObject({
    success: false,
    code: 'action_failed',
    error: expect.stringMatching(/action 3 \(execute\) failed: .*may produce/),
  })
})

describe('a page that hangs', () => {
  test('times out after 30 seconds by default', () => {
    expect(scrapeInput.parse({ url: 'a.test' }).timeout).toBe(30_000)
    expect(limits.scrape.timeoutMs).toBe(30_000)
  })

  // Mostly waiting: several run concurrently.
  test.concurrent.each(usualHomes)('in a script is read shortly before the timeout, through %s', async (home) => {
    const answer = await homes.clients[home].scrape({ url: url('/hung'), render: 'browser', timeout: 30_000 })
    expect(answer).toMatchObject({ success: true, warning: expect.stringMatching(/load/) })
    expect(answer.data!.markdown).toContain('Here before the script.')
  })

  test.each(usualHomes)('before its first byte times out, through %s', async (home) => {
    const scraping = homes.clients[home].scrape({ url: url('/never'), render: 'browser', timeout: 1500 })
    await expect(scraping).rejects.toMatchObject({
      status: 408,
      code: 'timeout',
      message: expect.stringContaining('1500 ms'),
    })
  })

  test.concurrent('in the middle of its document is read up to there', async () => {
    const { data } = await homes.clients.http.scrape({ url: url('/half'), render: 'browser', timeout: 30_000 })
    expect(data!.markdown).toContain('Said so far.')
  })

  test('causes exit code 6 in the terminal', async () => {
    const result = await run('/never', '--timeout', '800')
    expect(result).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('longer than 800 ms') })
  })
})

describe('a page that has grown without limits', () => {
  test.each(['/grown', '/shadow', '/attribute', '/inside'])(
    'is rejected without being transferred (%s)',
    async (path) => {
      const client = homes.clients.http
      const scraping = client.scrape({ url: url(path), render: 'browser', timeout: 90_000 })
      expect(await scraping).toMatchObject({ success: false, code: 'content_too_large' })
      expect(await client.scrape({ url: url('/menu'), render: 'browser' })).toMatchObject({ success: true })
    },
  )
})

describe('a page without main content', () => {
  test.each(usualHomes)('is returned as a whole, with a warning, through %s', async (home) => {
    const { data, warning } = await homes.clients[home].scrape({ url: url('/menu'), render: 'http' })
    expect(data!.markdown).toContain(`![Shop](${url('/Shop.png')})`)
    expect(data!.markdown).toContain('Contact')
    expect(warning).toBe('no main content was found: this is the whole page')
  })

  test('causes no warning when it is empty, or the whole page was requested', async () => {
    expect(await homes.clients.http.scrape({ url: url('/blank'), render: 'http' })).not.toHaveProperty('warning')
    const input = { url: url('/menu'), render: 'http' as const, only_main_content: false }
    expect(await homes.clients.http.scrape(input)).not.toHaveProperty('warning')
  })

  test('causes a warning on standard error', async () => {
    const result = await run('/menu', '--render', 'http')
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('this is the whole page') })
  })
})

// Advertisers are recognized by host name on the default port, where only root can listen.
const noPort = process.getuid?.() === 0 ? null : 'only root may listen on port 80'
describe.skipIf(noPort)(titled('advertisements', noPort), () => {
  const requests: (string | undefined)[] = []
  let ads: Server
  let page: Site
  let own: Homes

  beforeAll(async () => {
    ads = createServer((request, response) => {
      requests.push(request.url)
      response.setHeader('content-type', 'text/javascript')
      response.end('document.querySelector("#slot").textContent = "Buy now!"')
    })
    // Another run of these tests listens on another address.
    const address = `127.94.${randomInt(256)}.${randomInt(1, 255)}`
    ads.listen(80, address)
    await once(ads, 'listening')
    page = await serveSite({
      '/': '<!doctype html><title>News</title><main><h1>News</h1><p>The river rose by a metre in one night.</p><p id="slot">No advertisement.</p></main><script src="http://securepubads.g.doubleclick.net/ad.js"></script>',
    })
    const lookup = async () => [{ address, family: 4 as const }]
    own = await openHomes({ lookup, allowPrivate: ['127.0.0.0/8'] })
  })
  afterAll(async () => {
    await own?.close()
    ads?.close()
    await page?.close()
  })

  test('are blocked', async () => {
    const { data } = await own.clients.http.scrape({ url: page.url, render: 'browser', only_main_content: false })
    expect(data!.markdown).toContain('No advertisement.')
    expect(requests).toEqual([])
  })

  test('are loaded on request', async () => {
    const { data } = await own.clients.http.scrape({
      url: page.url,
      render: 'browser',
      only_main_content: false,
      block_ads: false,
    })
    expect(data!.markdown).toContain('Buy now!')
    expect(requests).toEqual(['/ad.js'])
  })
})
