import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { type Site, serveSite } from '../support/site.ts'
import { docx, p, rtf } from '../support/office-files.ts'
import { pdfOf, respondWith } from '../support/web.ts'

const page =
  '<!doctype html><title>Packed</title><main><h1>Packed</h1><p>It was packed for the journey and is whole again.</p></main>'

/** The page above in zstd, as a raw block, like the reference implementation compresses it. */
function zstdOf(text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0])
  head.writeUInt32LE(body.length, 5)
  const block = Buffer.alloc(3)
  block.writeUIntLE((body.length << 3) | 1, 0, 3)
  return Buffer.concat([head, block, body])
}

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>River news</title><description>All rivers</description><language>en-gb</language>
<item><title>Flood &amp; ebb</title><link>http://rivers.test/flood</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;The &lt;b&gt;Elbe&lt;/b&gt; rose.&lt;/p&gt;</description></item>
<item><title>Calm</title><link>http://rivers.test/calm</link></item></channel></rss>`
const atom = `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Neues</title>
<entry><title>Eins</title><link href="http://atom.test/1"/><id>1</id><updated>2026-01-01T00:00:00Z</updated><summary>Erster Eintrag</summary></entry></feed>`

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const words = '<!doctype html><title>Größe</title><p>Grüße aus Köln</p>'
  site = await serveSite({
    '/data.json': respondWith('application/json', '{"rivers":[{"name":"Nile","km":6650}]}'),
    '/broken.json': respondWith('application/json', '{"rivers":'),
    '/problem': respondWith('application/problem+json', '{"title":"no"}'),
    '/lines': respondWith('application/x-ndjson', '{"a":1}\n{"a":2}\n'),
    '/fence.json': respondWith('application/json', '{"md":"\n```\ncode\n```"}'),
    '/notes.txt': respondWith('text/plain; charset=utf-8', 'One *two*\n\n  three <b>\n'),
    '/rivers.csv': respondWith('text/csv', 'River,Length\n"Nile, White",6650\n"a|b","two\nlines"\n'),
    '/semicolons.csv': respondWith('text/csv', 'a;b\n1;2\n'),
    '/rivers.tsv': respondWith('text/tab-separated-values', 'a\tb\n1\t2\n'),
    '/rss': respondWith('application/rss+xml', rss),
    '/atom': respondWith('application/atom+xml', atom),
    '/sitemap.xml': respondWith(
      'application/xml',
      '<?xml version="1.0"?><urlset><url><loc>http://x.test/</loc></url></urlset>',
    ),
    '/paper.pdf': respondWith(
      'application/pdf',
      pdfOf(['Rivers of the world', 'Second page here'], '<</Title(World rivers)/Author(Ada)>>'),
    ),
    '/download': respondWith('application/octet-stream', pdfOf(['Only by its bytes'])),
    '/river.docx': respondWith('application/octet-stream', Buffer.from(docx(p('By its name')))),
    '/letter': respondWith('application/rtf', Buffer.from(rtf(String.raw`\b Dear\b0  river\par`))),
    '/bomb.docx': respondWith(
      'application/zip',
      Buffer.from(docx('', { 'word/document.xml': Buffer.alloc(100 * 1024 * 1024) })),
    ),
    '/login.docx': respondWith('application/vnd.openxmlformats-officedocument.wordprocessingml.document', page),
    '/locked.pdf': respondWith('application/pdf', Buffer.from('%PDF-1.4\nnot really')),
    '/map.png': respondWith('image/png', Buffer.from('iVBORw0KGgo=', 'base64')),
    '/movie': respondWith('video/mp4', Buffer.alloc(64)),
    '/archive.zip': respondWith('application/zip', Buffer.from('PK\u0003\u0004')),
    '/font': respondWith('font/woff2', Buffer.alloc(8)),
    '/untyped-html': respondWith('', page),
    '/untyped-bytes': respondWith('', Buffer.from([1, 0, 2, 0])),
    '/xhtml': respondWith(
      'application/xhtml+xml',
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head><body><p><i/>Strict</p></body></html>',
    ),
    '/xhtml-as-xml': respondWith(
      'text/xml',
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>Strict</p></body></html>',
    ),
    '/empty': respondWith('text/html', ''),
    '/gzip': respondWith('text/html', gzipSync(page), { 'content-encoding': 'gzip' }),
    '/deflate': respondWith('text/html', deflateSync(page), { 'content-encoding': 'deflate' }),
    '/br': respondWith('text/html', brotliCompressSync(page), { 'content-encoding': 'br' }),
    '/zstd': respondWith('text/html', zstdOf(page), { 'content-encoding': 'zstd' }),
    '/bom8': respondWith('text/html; charset=iso-8859-1', Buffer.from(`\uFEFF${words}`)),
    '/bom16le': respondWith('text/html', Buffer.from(`\uFEFF${words}`, 'utf16le')),
    '/header': respondWith('text/html; charset=ISO-8859-1', latin(words)),
    '/header-wrong': respondWith('text/html; charset=nonsense', latin(words)),
    '/meta': respondWith('text/html', latin(`<meta charset="iso-8859-2">${words}`)),
    '/meta-late': respondWith(
      'text/html',
      latin(`<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">${words}`),
    ),
    '/header-over-meta': respondWith('text/html; charset=utf-8', Buffer.from(`<meta charset="koi8-r">${words}`)),
    '/nothing-said': respondWith('text/html', latin(words)),
    '/shift-jis': respondWith(
      'text/html; charset=shift_jis',
      Buffer.concat([latin('<p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b]), latin('</p>')]),
    ),
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const scrape = async (path: string, input: Record<string, unknown> = {}) =>
  (await homes.clients.http.scrape({ url: `${site.url}${path}`, ...input } as never)).data!

describe('content other than HTML', () => {
  test('converts JSON to a fenced block, and returns it as json', async () => {
    const data = await scrape('/data.json', { formats: ['markdown', 'json', 'html', 'rawHtml'] })
    expect(data.markdown).toBe('```json\n{"rivers":[{"name":"Nile","km":6650}]}\n```\n')
    expect(data.json).toEqual({ rivers: [{ name: 'Nile', km: 6650 }] })
    expect(data.rawHtml).toBe('{"rivers":[{"name":"Nile","km":6650}]}')
    expect(data.html).toContain('<pre>')
    expect(data.metadata).toMatchObject({ content_type: 'application/json', json_valid: true })
  })

  test.each(['/problem', '/lines'])('reads %s as JSON', async (path) => {
    expect((await scrape(path)).markdown).toMatch(/^```json\n/)
  })

  test('reads JSON lines as a list', async () => {
    expect((await scrape('/lines', { formats: ['json'] })).json).toEqual([{ a: 1 }, { a: 2 }])
  })

  test('returns invalid JSON with a warning', async () => {
    const answer = await homes.clients.http.scrape({ url: `${site.url}/broken.json` })
    expect(answer).toMatchObject({ success: true, data: { markdown: '```json\n{"rivers":\n```\n' } })
    expect(answer.warning).toContain('the content is not valid JSON')
  })

  test('makes the fence longer than any inside', async () => {
    expect((await scrape('/fence.json')).markdown).toMatch(/^````json\n/)
  })

  test('keeps plain text', async () => {
    expect((await scrape('/notes.txt')).markdown).toBe('One *two*\n\n  three <b>\n')
  })

  test('converts CSV with any separator to a table', async () => {
    expect((await scrape('/rivers.csv')).markdown).toBe(
      '| River | Length |\n| --- | --- |\n| Nile, White | 6650 |\n| a\\|b | two<br>lines |\n',
    )
    expect((await scrape('/semicolons.csv')).markdown).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n')
    expect((await scrape('/rivers.tsv')).markdown).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n')
  })

  test('converts feeds to their articles', async () => {
    const data = await scrape('/rss', { formats: ['markdown', 'links'] })
    expect(data.markdown).toBe(
      '# River news\n\nAll rivers\n\n## [Flood & ebb](http://rivers.test/flood)\n\n2026-03-03T10:00:00.000Z\n\nThe **Elbe** rose.\n\n## [Calm](http://rivers.test/calm)\n',
    )
    expect(data.links!.map(({ href }) => href)).toEqual(['http://rivers.test/flood', 'http://rivers.test/calm'])
    expect(data.metadata).toMatchObject({ title: 'River news', description: 'All rivers', language: 'en-gb' })
    expect((await scrape('/atom')).markdown).toContain('## [Eins](http://atom.test/1)')
  })

  test('returns other XML as source code', async () => {
    expect((await scrape('/sitemap.xml')).markdown).toMatch(/^```xml\n<\?xml/)
  })

  test('converts a PDF to the text of its pages', async () => {
    const data = await scrape('/paper.pdf', { formats: ['markdown', 'summary'] })
    expect(data.markdown).toBe('Rivers of the world\n\n---\n\nSecond page here\n')
    expect(data.metadata).toMatchObject({
      title: 'World rivers',
      author: 'Ada',
      num_pages: 2,
      content_type: 'application/pdf',
    })
  })

  test('detects a PDF by its bytes', async () => {
    expect((await scrape('/download')).markdown).toBe('Only by its bytes\n')
  })

  test('converts office documents, detected by their name or type', async () => {
    const { markdown, metadata } = await scrape('/river.docx')
    expect(markdown?.trim()).toBe('By its name')
    expect(metadata).toMatchObject({ title: 'A title', author: 'Ada Rivers', render: 'http' })
    expect((await scrape('/letter')).markdown?.trim()).toBe('**Dear** river')
    expect((await scrape('/letter', { render: 'browser' })).markdown?.trim()).toBe('**Dear** river')
    expect((await scrape('/login.docx')).markdown).toContain('# Packed')
  })

  test('rejects a document that is too large when unpacked', async () => {
    const answer = await homes.clients.http.scrape({ url: `${site.url}/bomb.docx` } as never)
    expect(answer).toMatchObject({ success: false, code: 'content_too_large' })
  })

  test('converts an image to a reference to it', async () => {
    expect((await scrape('/map.png')).markdown).toBe(`![](${site.url}/map.png)\n`)
  })

  test.each(['/movie', '/archive.zip', '/font', '/untyped-bytes', '/locked.pdf'])(
    '%s cannot be scraped',
    async (path) => {
      const answer = await homes.clients.http.scrape({ url: `${site.url}${path}` })
      expect(answer).toMatchObject({ success: false, code: 'unsupported_content_type', error: expect.any(String) })
      expect(answer.data).toBeUndefined()
    },
  )

  test.each(['auto', 'http', 'browser'])('detects the kind with render %s', async (render) => {
    expect((await scrape('/data.json', { render })).markdown).toMatch(/^```json/)
    expect((await scrape('/paper.pdf', { render })).metadata.num_pages).toBe(2)
    const movie = await homes.clients.http.scrape({ url: `${site.url}/movie`, render: render as 'auto' })
    expect(movie.code).toBe('unsupported_content_type')
  })

  test('takes screenshots of files that a browser can show', async () => {
    const data = await scrape('/data.json', { formats: ['screenshot', 'markdown'] })
    expect(data.screenshot!.length).toBeGreaterThan(100)
    expect(data.markdown).toContain('Nile')
  })
})

describe('pages', () => {
  test.each(['/gzip', '/deflate', '/br', '/zstd', '/untyped-html'])('decompresses %s', async (path) => {
    expect((await scrape(path)).markdown).toContain('It was packed for the journey')
  })

  test.each([
    ['/xhtml', 'http'],
    ['/xhtml', 'browser'],
    ['/xhtml-as-xml', 'http'],
    ['/xhtml-as-xml', 'browser'],
  ] as const)('parses XHTML as XML: %s, %s', async (path, render) => {
    expect((await scrape(path, { render })).markdown).toBe('Strict\n')
  })

  test('returns an empty answer for an empty page', async () => {
    const answer = await homes.clients.http.scrape({ url: `${site.url}/empty` })
    expect(answer).toMatchObject({ success: true, data: { markdown: '' } })
  })

  test.each([
    ['/bom8', 'utf-8'],
    ['/bom16le', 'utf-16le'],
    ['/header', 'windows-1252'],
    ['/header-wrong', 'windows-1252'],
    ['/meta', 'iso-8859-2'],
    ['/meta-late', 'windows-1252'],
    ['/header-over-meta', 'utf-8'],
    ['/nothing-said', 'windows-1252'],
  ])('reads %s as %s', async (path, charset) => {
    const { markdown, metadata } = await scrape(path)
    expect(markdown).toBe('Grüße aus Köln\n')
    expect(metadata).toMatchObject({ title: 'Größe', charset })
  })

  test('decodes Japanese encodings', async () => {
    expect((await scrape('/shift-jis')).markdown).toBe('日本\n')
  })
})
