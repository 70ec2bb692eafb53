/** Responses that are not a whole page are read as far as they go, and reported by every operation that reads them. */
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawl, linkPage } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { respondWith } from '../support/web.ts'

const page = linkPage('Long', ['/end'], Array.from({ length: 500 }, (_, at) => `<p>Line ${at * 7919}</p>`).join(''))
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)
const partial = (range: string) => respondWith('text/html', page, { 'content-range': range }, 206)
const size = Buffer.byteLength(page)

/** Sends a page, and closes the connection before the end that is announced. */
const lost = (headers: Record<string, number>) => (_: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/html', ...headers })
  response.write(page, () => response.destroy())
}

let shown: ServerResponse | undefined
/** Sends a page whose connection is lost when a browser has shown what has arrived; browsers stop parsing then. */
const lostWhenShown = (headers: Record<string, number>) => (_: unknown, response: ServerResponse) => {
  shown = response
  response.writeHead(200, { 'content-type': 'text/html', ...headers })
  response.write(`${page}<script>fetch('/shown')</script>`)
}

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': linkPage('Start', ['/whole', '/gzip']),
    '/whole': respondWith('text/html', gzipSync(page), { 'content-encoding': 'gzip' }),
    '/end': linkPage('End'),
    '/gzip': respondWith('text/html', half(gzipSync(page)), { 'content-encoding': 'gzip' }),
    '/br': respondWith('text/html', half(brotliCompressSync(page)), { 'content-encoding': 'br' }),
    '/text': respondWith('text/plain', half(gzipSync(page)), { 'content-encoding': 'gzip' }),
    '/short': lost({ 'content-length': 2 * size }),
    '/unchunked': lost({}),
    '/short-shown': lostWhenShown({ 'content-length': 2 * size }),
    '/unchunked-shown': lostWhenShown({}),
    '/shown': (_, response) => {
      shown!.destroy()
      response.end()
    },
    '/204': respondWith('text/html', '', {}, 204),
    '/205': respondWith('text/html', '', {}, 205),
    '/302': respondWith('text/html', '', {}, 302),
    '/304': respondWith('text/html', '', {}, 304),
    '/part': partial(`bytes 0-${size - 1}/${2 * size}`),
    '/whole-part': partial(`bytes 0-${size - 1}/${size}`),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const scrape = (path: string, input: object = {}) =>
  homes.clients.http.scrape({ url: site.url + path, ...input } as never)

const cut = 'the response is incomplete: its compressed content ends early'
const incomplete = { success: true, warning: cut, warning_code: 'incomplete_response' }

describe('compressed content that ends early', () => {
  test.each(['/gzip', '/br', '/text'])('is read and reported by scrape: %s', async (path) => {
    const answer = await scrape(path)
    expect(answer).toMatchObject(incomplete)
    expect(answer.data!.markdown).toContain('Line 7919')
    expect(answer.data!.markdown).not.toContain(`Line ${499 * 7919}`)
  })

  test('is never cached', async () => {
    const url = `${site.url}/gzip`
    const answers = [await scrape('/gzip', { max_age: 60_000 }), await scrape('/gzip', { max_age: 60_000 })]
    expect(answers.map(({ data }) => data!.metadata.cached_at)).toEqual([undefined, undefined])
    expect(answers[1]).toMatchObject({ ...incomplete, data: { metadata: { sourceURL: url } } })
  })

  test('is reported by a request', async () => {
    const { body, warning } = await homes.clients.http.sendRequest({ url: `${site.url}/gzip` } as never)
    expect(warning).toBe(cut)
    expect(page.startsWith(body!)).toBe(true)
  })

  test('is reported by a crawl: with the page, and in its report', async () => {
    const answer = await crawl(homes.clients.http, site.url)
    expect(answer.warning).toBe(`${site.url}/gzip: ${cut}`)
    const codes = answer.data.map(({ metadata, warning_code }) => [
      metadata.sourceURL.slice(site.url.length),
      warning_code,
    ])
    expect(codes).toEqual([
      ['', undefined],
      ['/whole', undefined],
      ['/gzip', 'incomplete_response'],
      ['/end', undefined],
    ])
  })

  test('is reported by a map, whose links may be missing', async () => {
    const { links, warning } = await homes.clients.http.map({ url: site.url } as never)
    expect(links).toContain(`${site.url}/gzip`)
    expect(warning).toBe(`${site.url}/gzip: ${cut}`)
  })
})

test.each(['/short', '/unchunked'])('a lost connection is an error, or reported by a browser: %s', async (path) => {
  expect(await scrape(path)).toMatchObject({ success: false, code: 'connection_failed' })
  expect(await scrape(`${path}-shown`, { render: 'browser' })).toMatchObject({
    success: true,
    warning: 'the response is incomplete: the connection was lost',
    warning_code: 'incomplete_response',
    data: { markdown: expect.stringContaining('Line 7919') },
  })
})

describe('a status that says that a response is not a page', () => {
  test.each([
    ['/204', '204 No Content'],
    ['/205', '205 Reset Content'],
    ['/302', '302 Found'],
    ['/304', '304 Not Modified'],
  ])('is reported for %s', async (path, status) => {
    expect(await scrape(path, { render: 'http' })).toMatchObject({
      success: true,
      warning: expect.stringContaining(`the page answered ${status}`),
      warning_code: 'empty_page',
      data: { markdown: '', metadata: { status_code: Number(path.slice(1)) } },
    })
  })

  test('is reported for a part of a page that was not requested', async () => {
    expect(await scrape('/part')).toMatchObject({
      warning: 'the page answered 206 Partial Content',
      warning_code: 'incomplete_response',
    })
    expect((await scrape('/whole-part')).warning).toBeUndefined()
  })
})
