/** Content signals and licenses: reported with every page, and respected on request. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { crawl, linkPage, pathsOf, skippedOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { respondWith } from '../support/web.ts'

const robots = `License: /rsl.xml
License: javascript:alert(1)
User-agent: other
Content-Signal: search=no

User-agent: *
Allow: /
Content-Signal: search=yes, ai-input = No # not as input`

let homes: Homes
let site: Site
beforeAll(async () => {
  homes = await openHomes()
  const headed = (signal: string) => (_: unknown, response: import('node:http').ServerResponse) =>
    response
      .writeHead(200, {
        'content-type': 'text/html',
        'content-signal': signal,
        link: '<https://rsl.test/own.xml>; rel="license"; type="application/rsl+xml", </other>; rel=next',
      })
      .end(linkPage('Headed', ['/deep']))
  site = await serveSite({
    '/': linkPage('Home', ['/allowed', '/trained', '/moved']),
    '/allowed': headed('ai-input=yes'),
    '/trained': headed('ai-train=no, ai-input=yes, nonsense'),
    '/moved': (_: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(302, { location: '/again' }).end(),
    '/again': headed('ai-train=no'),
    '/deep': linkPage('Deep', [], '<p><a rel="nofollow license" href="/cc">CC BY</a></p>'),
    '/robots.txt': respondWith('text/plain', robots),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const termsOf = ({ data }: Awaited<ReturnType<typeof crawl>>) =>
  data.map(({ metadata: { content_signals, licenses } }) => ({ content_signals, licenses }))

describe('terms of use', () => {
  test('of the site, of the response and of the page are in the metadata', async () => {
    const answer = await crawl(homes.clients.http, site.url)
    expect(pathsOf(answer)).toEqual(['/', '/allowed', '/trained', '/moved', '/deep'])
    const rsl = `${site.url}/rsl.xml`
    expect(termsOf(answer)).toEqual([
      { content_signals: { search: 'yes', 'ai-input': 'no' }, licenses: [rsl] },
      { content_signals: { search: 'yes', 'ai-input': 'yes' }, licenses: ['https://rsl.test/own.xml', rsl] },
      {
        content_signals: { search: 'yes', 'ai-input': 'yes', 'ai-train': 'no' },
        licenses: ['https://rsl.test/own.xml', rsl],
      },
      {
        content_signals: { search: 'yes', 'ai-input': 'no', 'ai-train': 'no' },
        licenses: ['https://rsl.test/own.xml', rsl],
      },
      { content_signals: { search: 'yes', 'ai-input': 'no' }, licenses: [`${site.url}/cc`, rsl] },
    ])
  })

  test('of a response are in the metadata of a scrape', async () => {
    const { data } = await homes.clients.embedded.scrape({ url: `${site.url}/trained` })
    expect(data!.metadata).toMatchObject({
      content_signals: { 'ai-train': 'no', 'ai-input': 'yes' },
      licenses: ['https://rsl.test/own.xml'],
    })
  })

  test('skip the pages whose response refuses a use, and their links', async () => {
    const answer = await crawl(homes.clients.http, site.url, { respect_signals: ['ai-train=no'] })
    expect(pathsOf(answer)).toEqual(['/', '/allowed', '/deep'])
    expect(skippedOf(answer)).toEqual({ '/trained': 'content_signal', '/moved': 'content_signal', '/cc': 'max_depth' })
  })

  test('that refuse a use in robots.txt end the crawl before a page is requested', async () => {
    const before = site.requests.length
    for (const more of [{}, { ignore_robots: true }, { dry_run: true }]) {
      const answer = await crawl(homes.clients.http, site.url, { respect_signals: ['ai-input=no'], ...more })
      expect(answer).toMatchObject({ success: false, status: 'failed', code: 'robots_blocked', total: 0 })
      expect(answer.error).toContain('respect_signals')
      expect(skippedOf(answer)).toEqual({ '/': 'content_signal' })
    }
    expect(new Set(site.requests.slice(before))).toEqual(new Set(['/robots.txt']))
  })

  test.each([['ai-input'], ['ai-input=yes'], ['AI-input=no'], ['__proto__=no']])(
    'rejects %s as a signal',
    async (signal) => {
      await expect(crawl(homes.clients.http, site.url, { respect_signals: [signal] })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/respect_signals.*ai-input=no/s) as string,
      })
    },
  )

  test('are in the manifest of a mirror, which the terminal writes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-terms-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const argv = ['crawl', site.url, '--respect-signals', 'ai-train=no', '--limit', '1', '-o', folder]
    const { code } = await bax(argv, { cwd: folder, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir } })
    expect(code).toBe(0)
    expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      pages: [{ terms: { content_signals: { search: 'yes', 'ai-input': 'no' }, licenses: [`${site.url}/rsl.xml`] } }],
    })
  })
})
