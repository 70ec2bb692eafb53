import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js'
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawl, linkPage, pathsOf, skippedOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { redirectTo, respondWith } from '../support/web.ts'

let homes: Homes
const sites: Site[] = []

beforeAll(async () => {
  homes = await openHomes()
})
afterAll(async () => {
  await homes.close()
  await Promise.all(sites.map((site) => site.close()))
})

type Pages = Parameters<typeof serveSite>[0]

/** Serves pages that link to each other, and the given ones. */
async function siteOf(pages: Pages): Promise<Site> {
  const site = await serveSite({
    '/': linkPage('Home', ['/open', '/closed/a']),
    '/open': linkPage('Open', ['/closed/b']),
    '/closed/a': linkPage('A'),
    '/closed/b': linkPage('B'),
    ...pages,
  })
  sites.push(site)
  return site
}

const text = (body: string) => respondWith('text/plain', body)
const start = (site: Site, input: Record<string, unknown> = {}) => crawl(homes.clients.http, site.url, input)

test('a dry run lists targets of redirects once and without fragments, unless these are paths', async () => {
  const site = await siteOf({
    '/': linkPage('Moved', ['/1', '/2', '/3']),
    '/1': redirectTo('/to#one'),
    '/2': redirectTo('/to#two'),
    '/3': redirectTo('/to#/three'),
    '/to': linkPage('To', ['/to#four']),
  })
  const { data } = await start(site, { dry_run: true })
  expect(data.map(({ metadata }) => metadata.url!.slice(site.url.length))).toEqual(['/', '/to', '/to#/three'])
})

describe('robots.txt', () => {
  test('is obeyed: disallowed URLs are not requested, and are reported', async () => {
    const site = await siteOf({ '/robots.txt': text('User-agent: *\nDisallow: /closed/') })
    const answer = await start(site)
    expect(pathsOf(answer)).toEqual(['/', '/open'])
    expect(answer.robots_blocked).toEqual([`${site.url}/closed/a`, `${site.url}/closed/b`])
    expect(site.requests).not.toContain('/closed/a')
  })

  test('has rules for the user agent bax', async () => {
    const robots = 'User-agent: bax\nDisallow: /open\n\nUser-agent: *\nDisallow: /closed/'
    const answer = await start(await siteOf({ '/robots.txt': text(robots) }))
    expect(pathsOf(answer)).toEqual(['/', '/closed/a'])
  })

  test('is not requested with ignore_robots', async () => {
    const site = await siteOf({ '/robots.txt': text('User-agent: *\nDisallow: /') })
    expect(pathsOf(await start(site, { ignore_robots: true }))).toHaveLength(4)
    expect(site.requests).not.toContain('/robots.txt')
  })

  test('that disallows the start page ends the crawl', async () => {
    const site = await siteOf({ '/robots.txt': text('User-agent: *\nDisallow: /') })
    const answer = await start(site)
    expect(answer).toMatchObject({ success: false, status: 'failed', code: 'robots_blocked', total: 0 })
    expect(answer.robots_blocked).toEqual([`${site.url}/`])
    expect(site.requests).toEqual(['/robots.txt'])
  })

  test('applies to redirect targets', async () => {
    const site = await siteOf({
      '/robots.txt': text('User-agent: *\nDisallow: /closed/'),
      '/open': (_, response) => response.writeHead(302, { location: '/closed/a' }).end(),
    })
    const answer = await start(site)
    expect(pathsOf(answer)).toEqual(['/'])
    expect(answer.robots_blocked).toEqual([`${site.url}/open`, `${site.url}/closed/a`])
  })

  test.each([
    ['is missing', respondWith('text/html', 'no', {}, 404), undefined],
    ['is forbidden', respondWith('text/html', 'no', {}, 403), undefined],
    ['redirects endlessly', (_, response) => response.writeHead(302, { location: '/robots.txt' }).end(), 'redirects'],
    ['is a page', respondWith('text/html', '<h1>Disallow: /</h1>'), undefined],
  ] as [string, Pages[string], string | undefined][])('that %s disallows nothing', async (_, robots, warning) => {
    const answer = await start(await siteOf({ '/robots.txt': robots }))
    expect(answer.completed).toBe(4)
    if (warning === undefined) expect(answer.warning).toBeUndefined()
    else expect(answer.warning).toContain(warning)
  })

  test.each([
    ['is broken', respondWith('text/html', 'no', {}, 503), 'robots_blocked', 'it responded with 503'],
    ['has an error', respondWith('text/plain', 'Allow: /', {}, 500), 'robots_blocked', 'it responded with 500'],
    ['is cut off', (_, response) => response.destroy(), 'connection_failed', 'closed the connection'],
    ['never responds', () => {}, 'timeout', 'does not respond'],
  ] as [string, Pages[string], string, string][])('that %s disallows everything', async (_, robots, code, warning) => {
    const site = await siteOf({ '/robots.txt': robots })
    const answer = await start(site)
    expect(answer).toMatchObject({ success: false, status: 'failed', code, completed: 0 })
    expect(answer.warning).toContain(warning)
    expect(answer.warning).toContain('set ignore_robots (--ignore-robots)')
    expect(new Set(site.requests)).toEqual(new Set(['/robots.txt']))
    expect((await start(site, { ignore_robots: true })).completed).toBe(4)
  })

  test('that fails once is requested again', async () => {
    let requests = 0
    const robots: Pages[string] = (request, response) =>
      ++requests === 1 ? response.writeHead(503).end() : text('User-agent: *\nDisallow: /closed/')(request, response)
    const answer = await start(await siteOf({ '/robots.txt': robots }))
    expect(pathsOf(answer)).toEqual(['/', '/open'])
    expect(answer.warning).toBeUndefined()
  })

  const tricky = [
    '/~joe/1',
    '/%7Ejoe/2',
    '/caf%C3%A9/',
    '/a%2Fb',
    '/a/b',
    '/star*1',
    '/starx',
    '/end$',
    '/end$more',
    '/q?x=[1]',
  ]
  test.each([
    ['/%7Ejoe/', ['/~joe/1', '/%7Ejoe/2']],
    ['/~joe/', ['/~joe/1', '/%7Ejoe/2']],
    ['/%7ejoe/2 # a comment', ['/%7Ejoe/2']],
    ['/café/', ['/caf%C3%A9/']],
    ['/c%61f%c3%a9', ['/caf%C3%A9/']],
    ['/a%2fb', ['/a%2Fb']],
    ['/a/b', ['/a/b']],
    ['/star%2A', ['/star*1']],
    ['/star*', ['/star*1', '/starx']],
    ['/end%24$', ['/end$']],
    ['/end$m', ['/end$more']],
    ['/*?x=[1]', ['/q?x=[1]']],
  ])('compares %s without regard to escapes', async (pattern, blocked) => {
    const site = await siteOf({
      '/robots.txt': text(`User-agent: *\nDisallow: ${pattern}`),
      '/': linkPage('Home', tricky),
    })
    const { robots_blocked } = await start(site, { limit: 20 })
    expect(robots_blocked).toEqual(blocked.map((path) => `${site.url}${path}`))
  })

  test('with a crawl delay spaces requests out', async () => {
    let [robotsAt, lastAt, open] = [0, 0, 0]
    const counted =
      (name: string, links: string[]): Pages[string] =>
      (_, response) => {
        lastAt = performance.now()
        expect(++open).toBe(1)
        response.on('finish', () => open--)
        response.setHeader('content-type', 'text/html').end(linkPage(name, links))
      }
    const site = await siteOf({
      '/robots.txt': (request, response) => {
        robotsAt = performance.now()
        text('User-agent: *\nCrawl-delay: 0.3')(request, response)
      },
      '/': counted('Home', ['/1', '/2']),
      '/1': counted('One', []),
      '/2': counted('Two', []),
    })
    expect((await start(site, { concurrency: 8 })).completed).toBe(3)
    // Two delays between three pages; timers may fire slightly early.
    expect(lastAt - robotsAt).toBeGreaterThan(590)
  })
})

const urlset =
  (...paths: string[]) =>
  (site: { url: string }) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">${paths
      .map(
        (path) =>
          `<url><loc> ${site.url}${path} </loc><image:image><image:loc>${site.url}/picture.png</image:loc></image:image></url>`,
      )
      .join('')}</urlset>`

/** A site whose sitemaps contain its own URL. */
async function mapped(sitemaps: Record<string, (site: { url: string }) => string | Buffer>, pages: Pages = {}) {
  const self = { url: '' }
  const handlers = Object.entries(sitemaps).map(([path, body]): [string, Pages[string]] => [
    path,
    (_, response) => void response.setHeader('content-type', 'application/xml').end(body(self)),
  ])
  const orphans = Object.fromEntries(['/orphan/1', '/orphan/2', '/orphan/3'].map((path) => [path, linkPage(path)]))
  const site = await siteOf({ ...orphans, ...Object.fromEntries(handlers), ...pages })
  self.url = site.url
  return site
}

describe('sitemaps', () => {
  test('are not read by default', async () => {
    const site = await mapped({ '/sitemap.xml': urlset('/orphan/1') })
    expect(pathsOf(await start(site))).not.toContain('/orphan/1')
    expect(site.requests).not.toContain('/sitemap.xml')
  })

  test('with "include", their pages come after the links of the start page', async () => {
    const site = await mapped({ '/sitemap.xml': urlset('/orphan/2', '/open', '/orphan/1') })
    expect(pathsOf(await start(site, { sitemap: 'include' }))).toEqual([
      '/',
      '/open',
      '/closed/a',
      '/orphan/2',
      '/orphan/1',
      '/closed/b',
    ])
  })

  test('with "only", links are not followed', async () => {
    const site = await mapped({ '/sitemap.xml': urlset('/orphan/1', '/open') })
    expect(pathsOf(await start(site, { sitemap: 'only' }))).toEqual(['/', '/orphan/1', '/open'])
  })

  test('are found through robots.txt and indexes, compressed or as plain text', async () => {
    const index = (site: { url: string }) =>
      `<sitemapindex><sitemap><loc>${site.url}/one.xml.gz</loc></sitemap><sitemap><loc>${site.url}/list.txt</loc></sitemap></sitemapindex>`
    const site = await mapped(
      {
        '/robots.txt': ({ url }) => `User-agent: *\nAllow: /\nSitemap: ${url}/index.xml`,
        '/index.xml': index,
        '/one.xml.gz': (self) => gzipSync(urlset('/orphan/1')(self)),
      },
      {
        '/list.txt': (request, response) =>
          void response
            .setHeader('content-type', 'text/plain')
            .end(`http://${request.headers.host}/orphan/2\nhttp://${request.headers.host}/orphan/3`),
      },
    )
    const answer = await start(site, { sitemap: 'only' })
    expect(pathsOf(answer)).toEqual(['/', '/orphan/1', '/orphan/2', '/orphan/3'])
    expect(answer.warning).toBeUndefined()
  })

  test.each([
    ['compressed twice', '/map.xml.gz', { 'content-encoding': 'gzip' }, (body) => gzipSync(gzipSync(body))],
    [
      'with two encodings',
      '/map.xml',
      { 'content-encoding': 'deflate, br' },
      (body) => brotliCompressSync(deflateSync(body)),
    ],
    ['with a byte order mark', '/map.xml', {}, (body) => Buffer.from(`\ufeff${body}`)],
    ['as text with a byte order mark', '/map.txt', {}, (body) => Buffer.from(`\ufeff${/http[^<]*/.exec(body)![0]}`)],
  ] as [string, string, Record<string, string>, (body: string) => Buffer][])(
    'are read %s',
    async (_, path, headers, encode) => {
      const site: Site = await siteOf({
        '/robots.txt': (request, response) => void response.end(`Sitemap: http://${request.headers.host}${path}`),
        [path]: (request, response) =>
          void response
            .writeHead(200, headers)
            .end(encode(`<urlset><url><loc>http://${request.headers.host}/closed/b</loc></url></urlset>`)),
      })
      const answer = await start(site, { sitemap: 'only' })
      expect(pathsOf(answer)).toEqual(['/', '/closed/b'])
      expect(answer.warning).toBeUndefined()
    },
  )

  test('that list themselves are read once', async () => {
    const site: Site = await siteOf({
      '/sitemap.xml': (request, response) =>
        void response.end(
          ['/sitemap.xml', '/list.txt', '/sitemap.xml'].reduce(
            (all, path) => `${all}<sitemap><loc>http://${request.headers.host}${path}</loc></sitemap>`,
            '<sitemapindex>',
          ) + '</sitemapindex>',
        ),
      '/list.txt': (request, response) => void response.end(`http://${request.headers.host}/closed/b`),
    })
    const answer = await start(site, { sitemap: 'only' })
    expect(pathsOf(answer)).toEqual(['/', '/closed/b'])
    expect(answer.warning).toBeUndefined()
    expect(site.requests.filter((path) => path === '/sitemap.xml')).toHaveLength(1)
  })

  const entry = (at: number) => `<url><loc>/closed/${at === 0 ? 'a' : at}</loc></url>`
  const long = `<urlset>${Array.from({ length: 400 }, (_, at) => entry(at)).join('')}</urlset>`
  test.each([
    ['XML that ends early', `<urlset>${entry(0)}<url><loc>/clo`, {}, 'it ends inside of <loc>'],
    [
      'gzip that ends early',
      gzipSync(long).subarray(0, 900),
      { 'content-encoding': 'gzip' },
      'its compression is damaged',
    ],
    ['a page', '<!doctype html><title>Start</title>', {}, 'it is not a sitemap: its outermost element is <title>'],
    ['a feed', '<rss><channel></channel></rss>', {}, 'it is not a sitemap: its outermost element is <rss>'],
  ] as [string, string | Buffer, Record<string, string>, string][])(
    'that are %s are reported, and their URLs are used',
    async (_, body, headers, reason) => {
      const site = await siteOf({
        '/robots.txt': text('Sitemap: /map.xml'),
        '/map.xml': (_request, response) => void response.writeHead(200, headers).end(body),
      })
      const answer = await start(site, { sitemap: 'only', limit: 2 })
      expect(answer.warning).toContain(`sitemap ${site.url}/map.xml could not be read completely: ${reason}`)
      if (String(body).includes('urlset')) expect(pathsOf(answer)).toEqual(['/', '/closed/a'])
    },
  )

  test('are not expected at their default location', async () => {
    const site = await siteOf({ '/sitemap.xml': '<!doctype html><div id="app"><p>Start' })
    expect((await start(site, { sitemap: 'include' })).warning).toBeUndefined()
  })

  test.each([
    ['with', deflateSync],
    ['without', deflateRawSync],
  ])('are read with the encoding deflate, %s the header of zlib', async (_, compress) => {
    const site = await mapped(
      {},
      {
        '/sitemap.xml': (request, response) =>
          void response
            .setHeader('content-encoding', 'deflate')
            .end(compress(urlset('/orphan/1')({ url: `http://${request.headers.host}` }))),
      },
    )
    const answer = await start(site, { sitemap: 'only' })
    expect(pathsOf(answer)).toEqual(['/', '/orphan/1'])
    expect(answer.warning).toBeUndefined()
  })

  test('are found through relative lines of robots.txt', async () => {
    const site = await mapped(
      { '/maps/index.xml': urlset('/orphan/1'), '/maps.xml': urlset('/orphan/2') },
      { '/robots.txt': text('Sitemap: /maps/index.xml\nSitemap: maps.xml') },
    )
    const answer = await start(site, { sitemap: 'only' })
    expect(pathsOf(answer)).toEqual(['/', '/orphan/1', '/orphan/2'])
    expect(answer.warning).toBeUndefined()
  })

  const declared = (encoding: string, body: string): string => `<?xml version="1.0" encoding="${encoding}"?>\n${body}`
  test.each([
    ['UTF-16LE', 'xml', (body) => Buffer.from(`\ufeff${body}`, 'utf16le')],
    ['UTF-16BE without a mark', 'xml', (body) => Buffer.from(declared('UTF-16', body), 'utf16le').swap16()],
    [
      'windows-1251',
      'xml',
      (body) => Buffer.from(createSinglebyteEncoder('windows-1251')(declared('windows-1251', body))),
    ],
    [
      'Shift_JIS',
      'xml',
      (body) => Buffer.from(createMultibyteEncoder('shift_jis')(declared('Shift_JIS', body.replaceAll('Я', '本')))),
    ],
    ['ISO-8859-1', 'xml; charset=ISO-8859-1', (body) => Buffer.from(body.replaceAll('Я', 'é'), 'latin1')],
  ] as [string, string, (body: string) => Buffer][])('in %s are decoded', async (_, type, encode) => {
    const body = (host: string) =>
      `<urlset><!-- ${'x'.repeat(1100)} Я --><url><loc>http://${host}/list/Я</loc></url></urlset>`
    const site = await siteOf({
      '/sitemap.xml': (request, response) => {
        const bytes = encode(body(request.headers.host!))
        response.setHeader('content-type', `application/${type}`)
        // In parts that end within characters.
        for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
        response.end()
      },
    })
    const answer = await start(site, { sitemap: 'only' })
    expect(answer.warning).toBeUndefined()
    expect(decodeURIComponent(pathsOf(answer).at(-1)!)).toMatch(/^\/list\/[Яé本]$/)
  })

  test('do not lead to other hosts, and path patterns apply to them', async () => {
    const site = await mapped({
      '/sitemap.xml': ({ url }) =>
        `<urlset><url><loc>https://else.example/a</loc></url><url><loc>${url}/orphan/1</loc></url></urlset>`,
    })
    const answer = await start(site, { sitemap: 'only', exclude_paths: ['/orphan/*'] })
    expect(pathsOf(answer)).toEqual(['/'])
    expect(skippedOf(answer)).toEqual({ '/a': 'off_host', '/orphan/1': 'excluded' })
  })

  test('that are missing are a warning with "only"', async () => {
    const answer = await start(await siteOf({}), { sitemap: 'only' })
    expect(answer).toMatchObject({ success: true, completed: 1, warning: 'no sitemap lists any URL' })
    expect((await start(await siteOf({}), { sitemap: 'include' })).warning).toBeUndefined()
  })
})

describe('hostile sitemaps', () => {
  test('that reference each other are read once each', async () => {
    const circle = (next: string) => (site: { url: string }) =>
      `<sitemapindex><sitemap><loc>${site.url}${next}</loc></sitemap></sitemapindex>`
    const site = await mapped({ '/sitemap.xml': circle('/b.xml'), '/b.xml': circle('/sitemap.xml') })
    expect((await start(site, { sitemap: 'include' })).completed).toBe(4)
    expect(site.requests.filter((path) => path === '/b.xml')).toHaveLength(1)
  })

  test('that decompress beyond the limit are aborted, and their first entries are used', async () => {
    const blanks = gzipSync(Buffer.alloc(80 * 1024 * 1024, ' '))
    const site = await siteOf({
      '/robots.txt': (request, response) => void response.end(`Sitemap: http://${request.headers.host}/map.xml.gz`),
      '/map.xml.gz': (request, response) => {
        const beginning = gzipSync(`<urlset><url><loc>http://${request.headers.host}/orphan</loc></url>`)
        response.setHeader('content-type', 'application/gzip').end(Buffer.concat([beginning, blanks]))
      },
      '/orphan': linkPage('Orphan'),
    })
    const answer = await start(site, { sitemap: 'only' })
    expect(pathsOf(answer)).toEqual(['/', '/orphan'])
    expect(answer.warning).toContain('too large')
  })

  test.each([
    [
      'expands entities',
      () =>
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><urlset><url><loc>&b;&b;&b;</loc></url></urlset>',
      undefined,
    ],
    ['nests endlessly', () => `<urlset>${'<url>'.repeat(100_000)}`, 'nested'],
    ['is cut off', (site: { url: string }) => `<urlset><url><loc>${site.url}/orphan/1</loc></url><url><lo`, undefined],
    ['is a page', () => linkPage('Not a map', ['/orphan/1']), undefined],
    ['is binary', () => Buffer.from([0, 1, 2, 3, 255, 254, 10, 13]), undefined],
  ] as [string, (site: { url: string }) => string | Buffer, string | undefined][])(
    'a sitemap that %s is harmless',
    async (_, body, warning) => {
      const site = await mapped({ '/sitemap.xml': body })
      const answer = await start(site, { sitemap: 'include', limit: 20 })
      expect(answer.success).toBe(true)
      expect(pathsOf(answer)).toEqual(expect.arrayContaining(['/', '/open', '/closed/a', '/closed/b']))
      if (warning !== undefined) expect(answer.warning).toContain(warning)
    },
  )

  test('of tens of thousands of URLs are read as far as needed', async () => {
    const many = (site: { url: string }) =>
      `<urlset>${Array.from({ length: 50_000 }, (_, at) => `<url><loc>${site.url}/page/${at}</loc></url>`).join('')}</urlset>`
    const site = await mapped({ '/sitemap.xml': many })
    const answer = (await homes.clients.http.crawl({
      url: site.url,
      sitemap: 'include',
      limit: 10,
    })) as never as Record<string, number>
    expect(answer).toMatchObject({ success: true, total: 10, discovered: 50_004, skipped_total: 49_994 })
    expect(answer['skipped']).toHaveLength(10_000)
  })

  test('that do not respond are a warning', async () => {
    const site = await mapped(
      { '/sitemap.xml': urlset('/orphan/1') },
      { '/sitemap.xml': (_, response) => response.destroy() },
    )
    const answer = await start(site, { sitemap: 'include' })
    expect(answer).toMatchObject({ completed: 4, warning: expect.stringContaining('sitemap.xml could not be read') })
  })
})
