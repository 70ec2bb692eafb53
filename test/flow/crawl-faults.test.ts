import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import { crawl, errorsOf, linkPage, pathsOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'

let homes: Homes
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  homes = await openHomes({ home: 'embedded' })
})
afterAll(async () => {
  await homes.close()
  await Promise.all(closers.map((close) => close()))
})

type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => void

/** A server with one request handler; it has no robots.txt unless the handler sends one. */
async function serve(handler: Handler) {
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://x').pathname
    if (path === '/robots.txt') return response.writeHead(404).end()
    return handler(request, response, path)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  closers.push(close)
  return { url: `http://127.0.0.1:${port}/`, close, server, port }
}

const send = (response: ServerResponse, name: string, links: readonly string[] = []) =>
  void response.setHeader('content-type', 'text/html').end(linkPage(name, links))

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `/page/${at}`)
const run = (url: string, input: Record<string, unknown> = {}) => crawl(homes.clients.http, url, input)

// Mostly waiting: several run concurrently.
test.concurrent('a site that goes down during the crawl: finished pages are kept, the rest are errors', async () => {
  let requestCount = 0
  const site = await serve((_, response, path) => {
    if (path !== '/llms.txt' && ++requestCount > 12) {
      void site.close()
      return response.destroy()
    }
    return send(response, path, path === '/' ? numbered(30) : [])
  })
  const answer = await run(site.url, { limit: 100, concurrency: 1 })
  expect(answer).toMatchObject({ success: true, status: 'completed', total: 31, completed: 12 })
  expect(new Set(answer.errors.map(({ code }) => code))).toEqual(new Set(['connection_failed']))
  expect(answer.errors).toHaveLength(19)
})

test.concurrent('a site that is briefly down loses no pages', async () => {
  let requestCount = 0
  const site = await serve((_, response, path) => {
    requestCount++
    if (requestCount > 5 && requestCount < 9) return response.destroy()
    return send(response, path, path === '/' ? numbered(15) : [])
  })
  expect(await run(site.url, { limit: 50 })).toMatchObject({ completed: 16, errors: [] })
})

test.concurrent('a slow response delays the crawl by at most the timeout of a page', async () => {
  const timers = new Set<NodeJS.Timeout>()
  const site = await serve((_, response, path) => {
    if (path === '/page/2' || path === '/page/5') {
      response.writeHead(200, { 'content-type': 'text/html' })
      timers.add(setInterval(() => response.write('<p>'), 50))
      response.on('close', () => timers.forEach(clearInterval))
      return undefined
    }
    return send(response, path, path === '/' ? numbered(20) : [])
  })
  const answer = await run(site.url, { limit: 50, timeout: 8000 })
  expect(answer.completed).toBe(19)
  expect(errorsOf(answer)).toEqual({ '/page/2': 'timeout', '/page/5': 'timeout' })
})

test.concurrent('a page that never responds is one error', async () => {
  const site = await serve((_, response, path) =>
    path === '/page/1' ? undefined : send(response, path, path === '/' ? numbered(5) : []),
  )
  expect(errorsOf(await run(site.url, { timeout: 8000 }))).toEqual({ '/page/1': 'timeout' })
})

test.concurrent('an endless calendar ends at the limits', async () => {
  const site = await serve((request, response) => {
    const month = Number(new URL(request.url!, 'http://x').searchParams.get('month') ?? 0)
    send(response, `Month ${month}`, [`/calendar?month=${month + 1}`, `/calendar?month=${month - 1}`])
  })
  const byDepth = await run(site.url, { limit: 100, max_depth: 5 })
  expect(byDepth).toMatchObject({ status: 'completed', success: true })
  expect(byDepth.completed).toBe(12)
  const byLimit = await run(site.url, { limit: 60, max_depth: 1000 })
  expect(byLimit).toMatchObject({ status: 'completed', completed: 60 })
})

test.concurrent('endlessly growing paths end at the maximum length of URLs', async () => {
  const site = await serve((request, response) => send(response, 'Deeper', [`${request.url!}${'x'.repeat(400)}/`]))
  const answer = await run(site.url, { limit: 100, max_depth: 1000 })
  expect(answer.completed).toBeLessThan(8)
  expect(answer.skipped).toMatchObject([{ reason: 'too_long' }])
})

describe.concurrent('a site that rate-limits requests', () => {
  test('gets no requests for the time in Retry-After, and no page is lost', async () => {
    const refusing = new Set(['/page/1', '/page/12'])
    const pauses: number[] = []
    let refusedAt: number | undefined
    const site = await serve((_, response, path) => {
      if (refusedAt !== undefined) pauses.push(performance.now() - refusedAt)
      refusedAt = undefined
      if (!refusing.delete(path)) return send(response, path, path === '/' ? numbered(20) : [])
      refusedAt = performance.now()
      return response.writeHead(429, { 'retry-after': '1' }).end('no')
    })
    // One at a time: no request is under way when another one is refused.
    const answer = await run(site.url, { limit: 50, concurrency: 1 })
    expect(answer).toMatchObject({ completed: 21, errors: [] })
    expect(pauses).toHaveLength(2)
    // Timers may fire slightly early.
    expect(Math.min(...pauses)).toBeGreaterThan(990)
  })

  test('permanently: missing pages are reported in time', async () => {
    let requestCount = 0
    const site = await serve((_, response, path) => {
      requestCount++
      if (path !== '/' && requestCount > 5) return response.writeHead(429, { 'retry-after': '0' }).end('no')
      return send(response, path, path === '/' ? numbered(80) : [])
    })
    const answer = await run(site.url, { limit: 100, concurrency: 4 })
    expect(answer).toMatchObject({ success: true, status: 'completed', total: 81 })
    expect(answer.completed + answer.errors.length).toBe(81)
    expect(answer.errors.every(({ code, status_code: status }) => code === 'rate_limited' && status === 429)).toBe(true)
    // Most pages were no longer requested.
    expect(requestCount).toBeLessThan(70)
  })

  test('for an hour gets no further requests', async () => {
    const site = await serve((_, response, path) =>
      path === '/'
        ? send(response, path, numbered(40))
        : response.writeHead(503, { 'retry-after': '3600' }).end('maintenance'),
    )
    const answer = await run(site.url, { limit: 100 })
    expect(answer).toMatchObject({ completed: 1, total: 41 })
    expect(answer.errors[0]).toMatchObject({ status_code: 503 })
  })
})

test.concurrent('occasional server errors are retried; permanent ones are reported', async () => {
  const tries = new Map<string, number>()
  const site = await serve((_, response, path) => {
    const before = tries.get(path) ?? 0
    tries.set(path, before + 1)
    if (path === '/page/1' && before === 0) return response.writeHead(502).end('bad gateway')
    if (path === '/page/2') return response.writeHead(500).end('broken')
    return send(response, path, path === '/' ? numbered(4) : [])
  })
  const answer = await run(site.url)
  expect(answer.completed).toBe(4)
  expect(answer.errors).toEqual([
    {
      url: `${site.url}page/2`,
      error: 'the site responded with 500',
      code: 'server_error',
      depth: 1,
      status_code: 500,
    },
  ])
  expect(tries.get('/page/2')).toBe(3)
})

test.concurrent('redirects to other hosts, in circles and to invalid URLs are separate errors', async () => {
  const elsewhere = await serve((_, response, path) => send(response, path))
  const where: Record<string, string> = {
    '/page/0': elsewhere.url,
    '/page/1': '/page/1',
    '/page/2': '/page/3',
    '/page/3': '/page/2',
    '/page/4': 'http://',
    '/page/5': 'ftp://files.example/',
  }
  const site = await serve((_, response, path) =>
    where[path] === undefined
      ? send(response, path, path === '/' ? numbered(7) : [])
      : response.writeHead(302, { location: where[path] }).end(),
  )
  const answer = await run(site.url)
  expect(pathsOf(answer)).toEqual(['/', '/page/6'])
  expect(errorsOf(answer)).toEqual({
    '/page/0': 'off_host_redirect',
    '/page/1': 'too_many_redirects',
    '/page/2': 'too_many_redirects',
    '/page/3': 'too_many_redirects',
    '/page/4': 'connection_failed',
    '/page/5': 'url_blocked',
  })
})

test.concurrent('responses that are cut off, too large or not HTTP are separate errors', async () => {
  const site = await serve((_, response, path) => {
    if (path === '/page/0') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' })
      response.write('<p>The beginning')
      return void setImmediate(() => response.destroy())
    }
    if (path === '/page/1') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': String(64 * 1024 * 1024) })
      return void response.write('x')
    }
    if (path === '/page/2') return void response.socket!.end('\u0000 garbage\r\n\r\n')
    return send(response, path, path === '/' ? numbered(4) : [])
  })
  const answer = await run(site.url)
  expect(pathsOf(answer)).toEqual(['/', '/page/3'])
  expect(errorsOf(answer)).toEqual({
    '/page/0': 'connection_failed',
    '/page/1': 'content_too_large',
    '/page/2': 'connection_failed',
  })
})

// Alone: it keeps the processor busy for seconds.
test('a million links are crawled in order, and the crawl ends', async () => {
  const site = await serve((_, response, path) => {
    const base = path === '/' ? '' : path
    send(
      response,
      path,
      Array.from({ length: 1000 }, (_unused, at) => `${base}/${at}`),
    )
  })
  const answer = (await homes.clients.http.crawl({ url: site.url, limit: 60, max_depth: 3 })) as CrawlAnswer
  expect(answer).toMatchObject({ status: 'completed', total: 60, completed: 60, discovered: 60_001 })
  expect(answer.skipped).toHaveLength(10_000)
  expect(answer.skipped_total).toBe(60_001 - 60)
  expect(pathsOf(answer).slice(0, 3)).toEqual(['/', '/0', '/1'])
})
