import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import { expectConsistentCounts, crawl, errorsOf, linkPage, pathsOf, skippedOf } from '../support/crawl.ts'
import { type HomeName, homeNames, type Homes, openHomes } from '../support/homes.ts'
import { freePort } from '../support/ports.ts'
import { type Site, serveSite } from '../support/site.ts'
import { redirectTo, respondWith } from '../support/web.ts'

let homes: Homes
let site: Site
let other: Site

beforeAll(async () => {
  homes = await openHomes()
  other = await serveSite({ '/': linkPage('Elsewhere'), '/x': linkPage('X elsewhere') })
  site = await serveSite({
    '/': linkPage('Home', ['/a', '/b', '/c?q=1', 'a#part', '/docs/', 'mailto:me@x.test', `${other.url}/x`]),
    '/a': linkPage('A', ['/a/1', '/a/2', '/', '/b']),
    '/b': linkPage('B', ['/b/1', '/a/1', '/missing']),
    '/c': linkPage('C', ['/c?q=2']),
    '/a/1': linkPage('A1', ['/a/1/deep']),
    '/a/2': linkPage('A2'),
    '/b/1': linkPage('B1'),
    '/a/1/deep': linkPage('Deep', ['/a/1/deeper']),
    '/docs/': linkPage('Docs', ['/docs', '/docs/index.html', '/docs/gr%C3%BC%C3%9Fe', '/docs/private/x']),
    '/docs/gr%C3%BC%C3%9Fe': linkPage('Greetings'),
    '/docs/private/x': linkPage('Private'),
    '/moved': linkPage('Moved', ['/old', '/new', '/away', '/round', '/gone']),
    '/old': redirectTo('/new', 301),
    '/new': linkPage('New'),
    '/away': (_, response) => response.writeHead(302, { location: `${other.url}/x` }).end(),
    '/round': redirectTo('/round'),
    '/gone': respondWith('text/html', '<h1>Gone</h1>', {}, 410),
    '/kinds': linkPage('Kinds', ['/data.json', '/archive.zip', '/note.txt']),
    '/data.json': respondWith('application/json', '{"rivers":["Nile"]}'),
    '/archive.zip': respondWith('application/zip', 'PK'),
    '/note.txt': respondWith('text/plain', 'A note.'),
    '/routes': linkPage('Routes', ['/routes#/one', '/routes#!two', '/routes#three']),
    '/elsewhere': (_, response) => response.writeHead(302, { location: `${other.url}/` }).end(),
  })
})
afterAll(async () => {
  await homes.close()
  await Promise.all([site.close(), other.close()])
})

const start = (path = '/') => `${site.url}${path}`

describe.each(homeNames)('a crawl through %s', (home: HomeName) => {
  test('returns the pages breadth-first, as scrape does, and accounts for every URL', async () => {
    const answer = await crawl(homes.clients[home], start(), { limit: 100 })
    expect(answer).toMatchObject({ success: true, status: 'completed', id: expect.stringMatching(/^crl_/) })
    expect(pathsOf(answer)).toEqual([
      '/',
      '/a',
      '/b',
      '/c?q=1',
      '/docs/',
      '/a/1',
      '/a/2',
      '/b/1',
      '/missing',
      '/c?q=2',
      '/docs/gr%C3%BC%C3%9Fe',
      '/docs/private/x',
    ])
    expect(skippedOf(answer)).toEqual({ '/x': 'off_host', '/a/1/deep': 'max_depth' })
    expect(answer.data[1]).toMatchObject({
      markdown: expect.stringContaining('# A\n'),
      metadata: { title: 'A', url: start('/a'), status_code: 200, render: 'http' },
    })
    expect(answer.errors).toEqual([])
  })

  test('ends at the limit, in order of discovery', async () => {
    const answer = await crawl(homes.clients[home], start(), { limit: 3, concurrency: 8 })
    expect(pathsOf(answer)).toEqual(['/', '/a', '/b'])
    expect(skippedOf(answer)).toMatchObject({ '/c?q=1': 'limit', '/a/1': 'limit', '/missing': 'limit' })
  })
})

describe('depth and limit', () => {
  test('depth 0 is only the start page', async () => {
    const answer = await crawl(homes.clients.http, start(), { max_depth: 0 })
    expect(pathsOf(answer)).toEqual(['/'])
    expect(skippedOf(answer)['/a']).toBe('max_depth')
  })

  test('the defaults are ten pages and depth two', async () => {
    const answer = await crawl(homes.clients.http, start())
    expect(answer.data).toHaveLength(10)
    expect(pathsOf(answer)).not.toContain('/a/1/deep')
  })

  test('a server allows a hundred pages by default', async () => {
    const refused = homes.clients.http.crawl({ url: start(), limit: 101 })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: [{ path: 'limit' }] })
    const own = await openHomes({ home: 'embedded' })
    const generous = await openHomes({ crawlPages: 200 })
    try {
      expect((await crawl(own.clients.embedded, start(), { limit: 5000 })).data).toHaveLength(12)
      expect((await crawl(generous.clients.http, start(), { limit: 200 })).data).toHaveLength(12)
      await expect(generous.clients.http.crawl({ url: start(), limit: 201 })).rejects.toThrow('at most 200')
    } finally {
      await Promise.all([own.close(), generous.close()])
    }
  })
})

describe('page identity', () => {
  test('fragments, index.html and trailing slashes do not make another page', async () => {
    const answer = await crawl(homes.clients.http, start('/docs/'), { limit: 50, include_paths: ['/docs/**'] })
    expect(pathsOf(answer)).toEqual(['/docs/', '/docs/gr%C3%BC%C3%9Fe', '/docs/private/x'])
  })

  test('fragments that are client-side routes do', async () => {
    const answer = await crawl(homes.clients.http, start('/routes'))
    expect(pathsOf(answer)).toEqual(['/routes', '/routes#/one', '/routes#!two'])
  })

  test('a page that redirects to a known one is skipped', async () => {
    const answer = await crawl(homes.clients.http, start('/moved'), { limit: 50 })
    expect(pathsOf(answer)).toEqual(['/moved', '/old', '/gone'])
    expect(answer.data[1]!.metadata).toMatchObject({
      url: start('/new'),
      redirects: [{ url: start('/old'), status: 301 }],
    })
    expect(skippedOf(answer)).toEqual({ '/new': 'redirect_duplicate' })
  })

  test('redirects to another host or in a circle are errors; error statuses are not', async () => {
    const answer = await crawl(homes.clients.http, start('/moved'), { limit: 50 })
    expect(errorsOf(answer)).toEqual({ '/away': 'off_host_redirect', '/round': 'too_many_redirects' })
    expect(answer.errors[0]).toMatchObject({ depth: 1, error: expect.any(String), url: start('/away') })
    expect(answer.data[2]!.metadata).toMatchObject({ status_code: 410, error: 'Gone' })
  })

  test('the host is that of the redirect target of the start page', async () => {
    const answer = await crawl(homes.clients.http, start('/elsewhere'))
    expect(answer).toMatchObject({ success: true, completed: 1 })
    expect(answer.data[0]!.metadata).toMatchObject({ title: 'Elsewhere', url: `${other.url}/` })
  })

  test('other content types are read as scrape does, or are errors', async () => {
    const answer = await crawl(homes.clients.http, start('/kinds'))
    expect(pathsOf(answer)).toEqual(['/kinds', '/data.json', '/note.txt'])
    expect(errorsOf(answer)).toEqual({ '/archive.zip': 'unsupported_content_type' })
  })
})

describe('scope', () => {
  test('globs match decoded paths, /docs/** also matches /docs, and excludes win', async () => {
    const input = { limit: 50, include_paths: ['/docs/**'], exclude_paths: ['/docs/private/*'] }
    const answer = await crawl(homes.clients.http, start(), input)
    expect(pathsOf(answer)).toEqual(['/docs/', '/docs/gr%C3%BC%C3%9Fe'])
    expect(skippedOf(answer)).toMatchObject({ '/': 'excluded', '/a': 'excluded', '/docs/private/x': 'excluded' })
    const greetings = await crawl(homes.clients.http, start(), { include_paths: ['/docs/grü*'], max_depth: 3 })
    expect(greetings.data).toEqual([])
    const narrow = await crawl(homes.clients.http, start('/docs/'), { include_paths: ['/docs/grü*'] })
    expect(pathsOf(narrow)).toEqual(['/docs/gr%C3%BC%C3%9Fe'])
  })

  test('links to other hosts are followed with allow_external_links', async () => {
    const answer = await crawl(homes.clients.http, start(), { limit: 50, max_depth: 1, allow_external_links: true })
    expect(answer.data.map(({ metadata }) => metadata.url)).toContain(`${other.url}/x`)
  })

  test('links to subdomains on the same port are followed with allow_subdomains', async () => {
    const family = await serveSite({
      '/': (request, response) => {
        const links = [`http://sub.${request.headers.host}/page`, 'http://sub.localhost:1/page', 'http://sublocalhost/']
        response.setHeader('content-type', 'text/html').end(linkPage('Home', links))
      },
    })
    const top = `http://localhost:${new URL(family.url).port}`
    try {
      expect((await crawl(homes.clients.http, top)).skipped).toHaveLength(3)
      // Such names do not resolve on this machine, so this is a dry run.
      const input = { allow_subdomains: true, max_depth: 1, dry_run: true }
      const answer = await crawl(homes.clients.http, top, input)
      const found = answer.data.map(({ metadata }) => metadata.sourceURL)
      expect(found).toEqual([top, `${top.replace('localhost', 'sub.localhost')}/page`])
    } finally {
      await family.close()
    }
  })

  test('an invalid glob is rejected', async () => {
    const refused = homes.clients.http.crawl({ url: start(), include_paths: [''] })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: [{ path: 'include_paths[0]' }] })
  })

  test('a dry run lists the pages that would be visited', async () => {
    const dry = await crawl(homes.clients.http, start(), { limit: 8, dry_run: true })
    const real = await crawl(homes.clients.http, start(), { limit: 8 })
    expect(pathsOf(dry)).toEqual(pathsOf(real))
    expect(dry.data.every(({ markdown }) => markdown === undefined)).toBe(true)
  })

  test('a dry run does not request pages whose links are not needed', async () => {
    const before = site.requests.length
    await crawl(homes.clients.http, start(), { limit: 50, dry_run: true })
    const requested = site.requests.slice(before)
    expect(requested).toContain('/b')
    expect(requested).not.toContain('/b/1')
  })
})

describe('every page', () => {
  test('has the requested formats', async () => {
    const schema = { type: 'object', properties: { title: { type: 'string' } } }
    const input = { limit: 2, formats: ['html', 'links', 'json'], json_options: { schema }, only_main_content: false }
    const answer = await crawl(homes.clients.http, start(), input)
    for (const page of answer.data) {
      expect(Object.keys(page).toSorted()).toEqual(['html', 'json', 'links', 'metadata'])
      expect(page.json).toHaveProperty('title')
    }
    expect(answer.data[0]!.links![0]).toEqual({ href: start('/a'), text: 'to /a' })
  })

  test('input that scrape rejects is rejected before any request', async () => {
    const before = site.requests.length
    const refused = homes.clients.http.crawl({ url: start(), render: 'http', formats: ['screenshot'] })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(homes.clients.http.crawl({ url: 'file:///etc/passwd' })).rejects.toMatchObject({ code: 'url_blocked' })
    const bare = await openHomes({ builtinExtractor: false })
    const request = bare.clients.http.crawl({ url: start(), formats: ['summary'] })
    await expect(request.finally(bare.close)).rejects.toMatchObject({ code: 'model_not_configured', status: 400 })
    expect(site.requests.length).toBe(before)
  })
})

describe('the start page', () => {
  test('that cannot be loaded is a failure with its reason', async () => {
    const answer = await crawl(homes.clients.http, `http://127.0.0.1:${await freePort()}/`)
    expect(answer).toMatchObject({
      success: false,
      status: 'failed',
      total: 1,
      completed: 0,
      code: 'connection_failed',
    })
    expect(answer.errors).toMatchObject([{ code: 'connection_failed', depth: 0 }])
  })

  test('with an error status is a page, with a warning', async () => {
    const answer = await crawl(homes.clients.http, start('/gone'))
    expect(answer).toMatchObject({ success: true, completed: 1, data: [{ metadata: { status_code: 410 } }] })
    expect(answer.warning).toBe(`${start('/gone')}: the page answered 410 Gone`)
  })

  test('keeps the URL as typed', async () => {
    const typed = start().replace('http://', '').replace(/\/$/, '')
    const answer = (await homes.clients.http.crawl({ url: typed, limit: 1 })) as CrawlAnswer
    expectConsistentCounts(answer)
    expect(answer.data[0]!.metadata).toMatchObject({ sourceURL: typed, url: start() })
  })

  test('does not reveal its password', async () => {
    const protectedSite = await serveSite({
      '/': (request, response) => {
        const known = request.headers.authorization !== undefined
        response.writeHead(known ? 200 : 401, { 'content-type': 'text/html' })
        response.end(linkPage(known ? 'Inside' : 'Outside', ['/next']))
      },
      '/next': (request, response) =>
        void response
          .setHeader('content-type', 'text/html')
          .end(linkPage(request.headers.authorization ? 'Known' : 'Unknown')),
    })
    const url = protectedSite.url.replace('//', '//ada:secret@')
    const answer = await crawl(homes.clients.http, url).finally(protectedSite.close)
    expect(answer.data.map(({ metadata }) => metadata.title)).toEqual(['Inside', 'Known'])
    expect(answer.data[1]!.metadata.sourceURL).toBe(`${protectedSite.url}/next`)
    expect(answer.data[1]!.metadata.url).toBe(`${protectedSite.url}/next`)
  })
})
