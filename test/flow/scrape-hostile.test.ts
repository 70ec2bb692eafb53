/** Pages and PDFs built to exhaust the server: each fails only its own scrape. */
import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { childrenOf } from '../support/processes.ts'
import { servedWithinMs, type Served, serveBax } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { pdfFile, pdfOf, respondWith } from '../support/web.ts'

const packed = '/Filter/FlateDecode'

/** A PDF of 100 KB that draws five million words. */
const slow = () =>
  pdfFile([{ stream: deflateSync(`BT /F1 12 Tf ${'(hello) Tj '.repeat(5_000_000)} ET`), filter: packed }])

/** A PDF of a few KB that decompresses to 4 GB of spaces. */
function bomb(): Buffer {
  const piece = deflateRawSync(Buffer.alloc(64 * 1024 ** 2, ' '), { finishFlush: constants.Z_FULL_FLUSH })
  const once = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: 64 }, () => piece)])
  return pdfFile([{ stream: deflateSync(once), filter: '/Filter[/FlateDecode/FlateDecode]' }])
}

const start = '<!doctype html><title>Long</title><main><h1>Long</h1>'
/** Pages of 10 MB: paragraphs, more elements than allowed, characters that Markdown has to escape. */
const paragraphs = () => `${start}${'<p>Some words, and a few more of them here.</p>'.repeat(200_000)}`
const elements = () => `${start}${'<h2>x</h2>'.repeat(900_000)}`
const marks = () => `${start}<p>${'*_`['.repeat(2_400_000)}</p>`

let web: Site
let served: Served

beforeAll(async () => {
  web = await serveSite({
    '/paper.pdf': respondWith('application/pdf', pdfOf(['Rivers of the world'], '<</Title(World rivers)>>')),
    '/': `${start}<p>A page like any other.</p></main>`,
    '/paragraphs': paragraphs(),
    '/elements': elements(),
    '/marks': marks(),
    // The script itself ends at once: one that blocks its page is stopped, and the page is read without its content.
    '/grown': `${start}<p></p><script>document.querySelector('p').textContent = '*_\`'.repeat(2400000)</script>`,
    '/large.json': respondWith(
      'application/json',
      JSON.stringify(Array.from({ length: 60_000 }, (_, at) => `river ${at}`)),
    ),
    '/slow.pdf': respondWith('application/pdf', slow()),
    '/bomb.pdf': respondWith('application/pdf', bomb()),
  })
  served = await serveBax()
}, servedWithinMs)
afterAll(async () => {
  await served?.close()
  await web?.close()
})

const scrape = (path: string, more: object = {}, signal?: AbortSignal) =>
  served.request('POST', '/v1/scrape', { url: web.url + path, ...more }, signal)

/** Scrapes a page in vain while `work` runs, until the caller gives up. */
async function whileScraping(path: string, more: object, work: () => Promise<void>): Promise<void> {
  const leaving = new AbortController()
  const before = web.requests.length
  const scraping = scrape(path, { ...more, timeout: 120_000 }, leaving.signal).catch((error: Error) => error.name)
  await waitUntil(() => web.requests.slice(before).includes(path))
  await work()
  leaving.abort()
  expect(await scraping).toBe('AbortError')
}

describe('a hostile page', () => {
  test.each([
    ['with very many paragraphs', '/paragraphs', 'http'],
    ['with a single paragraph', '/marks', 'http'],
    ['filled by a script', '/grown', 'browser'],
  ])('%s times out, while other pages are read', async (_, path, render) => {
    expect(await scrape(path, { render, timeout: 2500 })).toMatchObject({ success: false, code: 'timeout' })
    await whileScraping(path, { render }, async () =>
      expect(await scrape('/')).toMatchObject({ success: true, data: { metadata: { title: 'Long' } } }),
    )
  })

  test('is rejected when it has too many elements', async () => {
    const answer = await scrape('/elements', { render: 'http' })
    expect(answer).toMatchObject({
      success: false,
      code: 'content_too_large',
      error: expect.stringMatching('elements'),
    })
  })
})

test('reads a large file shown by a browser in a worker thread, and keeps its screenshot', async () => {
  const answer = await scrape('/large.json', { render: 'browser', formats: ['markdown', 'screenshot'] })
  expect(answer).toMatchObject({ success: true, data: { screenshot: expect.stringMatching(/^.{1000}/) } })
  expect((answer['data'] as { markdown: string }).markdown).toContain('river 59999')
})

describe('a hostile PDF', () => {
  test('times out when it never finishes, while other PDFs are read', async () => {
    expect(await scrape('/slow.pdf', { timeout: 3000 })).toMatchObject({ success: false, code: 'timeout' })
    await whileScraping('/slow.pdf', {}, async () =>
      expect(await scrape('/paper.pdf')).toMatchObject({
        success: true,
        data: { metadata: { title: 'World rivers' } },
      }),
    )
  })

  test('on every worker thread delays others at most until the timeout', async () => {
    const slowScrapes = [1, 2, 3].map(() => scrape('/slow.pdf', { timeout: 3000 }))
    expect(await scrape('/paper.pdf', { timeout: 30_000 })).toMatchObject({ success: true })
    for (const one of await Promise.all(slowScrapes)) expect(one).toMatchObject({ code: 'timeout' })
  })

  test('of one key does not delay the PDFs of another one', async () => {
    const keyOf = async (name: string) =>
      (await served.request('POST', '/v1/keys', { name, scopes: ['scrape'] }))['key'] as string
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    const leaving = new AbortController()
    const scrapeAs = async (key: string, path: string, signal?: AbortSignal) => {
      const response = await fetch(`${served.url}/v1/scrape`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ url: web.url + path, timeout: 120_000 }),
        ...(signal && { signal }),
      })
      return (await response.json()) as { success: boolean }
    }
    const before = web.requests.length
    let endedSlow = 0
    const slow = Array.from({ length: 6 }, () =>
      scrapeAs(ann, '/slow.pdf', leaving.signal)
        .catch(() => {})
        .finally(() => endedSlow++),
    )
    await waitUntil(() => web.requests.slice(before).filter((path) => path === '/slow.pdf').length === slow.length)
    expect(await scrapeAs(bob, '/paper.pdf')).toMatchObject({ success: true })
    // Without a thread for other keys, it would have waited for the first of them.
    expect(endedSlow).toBe(0)
    leaving.abort()
    await Promise.all(slow)
  })

  test('fails alone when the process that reads documents is killed', async () => {
    const { pid } = await served.request('GET', '/engine')
    const lost = scrape('/slow.pdf', { timeout: 120_000 })
    let readers: number[] = []
    await waitUntil(async () => (readers = await childrenOf(pid as number, 'document-reader')).length > 0)
    for (const reader of readers) process.kill(reader, 'SIGKILL')
    expect(await lost).toMatchObject({ success: false, code: 'worker_lost' })
    expect(await scrape('/paper.pdf')).toMatchObject({ success: true })
  })

  test('is rejected before it has decompressed to gigabytes', async () => {
    // On a busy machine, the limit of time may be reached first.
    const code = expect.stringMatching(/^(?:content_too_large|timeout)$/)
    expect(await scrape('/bomb.pdf', { timeout: 60_000 })).toMatchObject({ success: false, code })
    expect(await scrape('/paper.pdf')).toMatchObject({ success: true })
  })
})
