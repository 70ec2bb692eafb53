/** Pages and PDFs that a stranger made to keep a server busy: they cost who asks for them that scrape, and nobody else anything. */
import { constants, deflateRawSync, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/session-steps.ts'
import { servedWithinMs, type Served, serveBax } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { pdfFile, pdfOf, sends } from '../support/web.ts'

const packed = '/Filter/FlateDecode'

/** 100 KB that are five million words to draw. */
const slow = () =>
  pdfFile([{ stream: deflateSync(`BT /F1 12 Tf ${'(hello) Tj '.repeat(5_000_000)} ET`), filter: packed }])

/** Some KB that unpack to 4 GB of blanks. */
function bomb(): Buffer {
  const piece = deflateRawSync(Buffer.alloc(64 * 1024 ** 2, ' '), { finishFlush: constants.Z_FULL_FLUSH })
  const once = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: 64 }, () => piece)])
  return pdfFile([{ stream: deflateSync(once), filter: '/Filter[/FlateDecode/FlateDecode]' }])
}

const start = '<!doctype html><title>Long</title><main><h1>Long</h1>'
/** Pages of 10 MB: of paragraphs, of more elements than a page may have, of marks that Markdown has to look at. */
const paragraphs = () => `${start}${'<p>Some words, and a few more of them here.</p>'.repeat(200_000)}`
const elements = () => `${start}${'<h2>x</h2>'.repeat(900_000)}`
const marks = () => `${start}<p>${'*_`['.repeat(2_400_000)}</p>`

let web: Site
let served: Served

beforeAll(async () => {
  web = await serveSite({
    '/paper.pdf': sends('application/pdf', pdfOf(['Rivers of the world'], '<</Title(World rivers)>>')),
    '/': `${start}<p>A page like any other.</p></main>`,
    '/paragraphs': paragraphs(),
    '/elements': elements(),
    '/marks': marks(),
    '/grown': `${start}<script>document.body.innerHTML = '<main><h1>Grown</h1>' + '<p>Some words, and a few more of them here.</p>'.repeat(200000)</script>`,
    '/large.json': sends('application/json', JSON.stringify(Array.from({ length: 60_000 }, (_, at) => `river ${at}`))),
    '/slow.pdf': sends('application/pdf', slow()),
    '/bomb.pdf': sends('application/pdf', bomb()),
  })
  served = await serveBax()
}, servedWithinMs)
afterAll(async () => {
  await served?.close()
  await web?.close()
})

const scrape = (path: string, more: object = {}) => served.ask('POST', '/v1/scrape', { url: web.url + path, ...more })

describe('a page made by an enemy', () => {
  test.each([
    ['of a great many paragraphs', '/paragraphs', 'http'],
    ['of a single one', '/marks', 'http'],
    ['that a script has filled', '/grown', 'browser'],
  ])('%s is given up in the time of its scrape; others are read meanwhile', async (_, path, render) => {
    let ended = false
    const late = scrape(path, { render, timeout: 2500 }).finally(() => (ended = true))
    await until(() => web.requests.includes(path))
    expect(await scrape('/')).toMatchObject({ success: true, data: { metadata: { title: 'Long' } } })
    expect(ended).toBe(false)
    expect(await late).toMatchObject({ success: false, code: 'timeout' })
  })

  test('one of more elements than memory is for is refused', async () => {
    const answer = await scrape('/elements', { render: 'http' })
    expect(answer).toMatchObject({
      success: false,
      code: 'content_too_large',
      error: expect.stringMatching('elements'),
    })
  })
})

test('a large file that a browser shows is read in a thread, and its picture is there', async () => {
  const answer = await scrape('/large.json', { render: 'browser', formats: ['markdown', 'screenshot'] })
  expect(answer).toMatchObject({ success: true, data: { screenshot: expect.stringMatching(/^.{1000}/) } })
  expect((answer['data'] as { markdown: string }).markdown).toContain('river 59999')
})

describe('a PDF made by an enemy', () => {
  test('one that takes for ever is given up in the time of its scrape; others are read meanwhile', async () => {
    let ended = false
    const late = scrape('/slow.pdf', { timeout: 5000 }).finally(() => (ended = true))
    // The engine goes on answering, and reads another PDF before the first one is given up.
    expect(await scrape('/paper.pdf')).toMatchObject({ success: true, data: { metadata: { title: 'World rivers' } } })
    expect(ended).toBe(false)
    expect(await late).toMatchObject({ success: false, code: 'timeout' })
  })

  test('as many as there are threads hold up no other for longer than their time', async () => {
    const late = [1, 2, 3].map(() => scrape('/slow.pdf', { timeout: 3000 }))
    expect(await scrape('/paper.pdf', { timeout: 30_000 })).toMatchObject({ success: true })
    for (const one of await Promise.all(late)) expect(one).toMatchObject({ code: 'timeout' })
  })

  test('one that unpacks to gigabytes is refused before it has them', async () => {
    expect(await scrape('/bomb.pdf', { timeout: 60_000 })).toMatchObject({ success: false, code: 'content_too_large' })
    expect(await scrape('/paper.pdf')).toMatchObject({ success: true })
  })
})
