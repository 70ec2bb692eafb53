/** `bax scrape` without an engine: the answer depends on what is asked, not on which values need a schema. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transport } from '../../src/client/transport.ts'
import { openEmbedded } from '../../src/cli/engine/embedded-engine.ts'
import { openScraper } from '../../src/cli/engine/embedded-scraper.ts'
import { readSettings } from '../../src/cli/settings.ts'
import { limits } from '../../src/core/limits/limits.ts'
import type { ScrapeInput } from '../../src/core/shapes/scrape.ts'
import { makeManifest } from '../../src/operations/manifest.ts'
import { type BuiltBax, buildBax, type CliResult } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, pdfOf, respondWith } from '../support/web.ts'

let built: BuiltBax
let site: Site
let state: string

beforeAll(async () => {
  built = await buildBax()
  state = await built.stateDir()
  site = await serveSite({
    '/article': article,
    '/plain': '<!doctype html><title>Plain</title><main><h1>Plain</h1><p>A page in latin letters: Grüße.</p></main>',
    '/notes':
      '<!doctype html><meta charset=utf-8><p>Text<a id="r" href="#n">1</a></p><ol class="footnotes"><li id="n">Note <a href="#r">↩</a></li></ol>',
    '/app':
      '<!doctype html><title>App</title><div id="root"></div><script>root.innerHTML = "<h1>Drawn</h1><p>By a script.</p>"</script>',
    '/paper.pdf': respondWith('application/pdf', pdfOf(['On paper'])),
    '/rivers.csv': respondWith('text/csv', 'River,Length\nNile,6650\n'),
    '/data.json': respondWith('application/json', '{"a":1}'),
    '/feed': respondWith(
      'application/rss+xml',
      '<rss><channel><title>News</title><item><title>One</title></item></channel></rss>',
    ),
    '/film': respondWith('video/mp4', 'x'),
    '/missing': respondWith('text/html', '<h1>Nothing here</h1>', {}, 404),
  })
})
afterAll(async () => {
  await built?.close()
  await site?.close()
})

const scrape = (words: readonly string[], long: readonly string[] = []): Promise<CliResult> =>
  built.run([
    'scrape',
    ...words.map((word) => (word.startsWith('/') ? `${site.url}${word}` : word)),
    '--state-dir',
    state,
    ...long,
  ])

/** An `Io` without input and output. */
const ioIn = (cwd: string) => ({
  stdin: { async *[Symbol.asyncIterator]() {} },
  stdout: { write: () => true },
  stderr: { write: () => true },
  env: { BAX_CONFIG: noConfig },
  cwd,
  signal: new AbortController().signal,
  host: {
    pid: process.pid,
    uid: process.getuid?.(),
    platform: process.platform,
    nodeVersion: process.version,
    self: ['/nonexistent/bax'] as [string],
  },
})

/** Removes values that differ between answers. */
const stable = (text: string) =>
  text.replaceAll(/"(?:scrape_id|request_id|cached_at)":"[^"]*"/g, '""').replaceAll(/"duration_ms":\d+/g, '""')

test('letters outside ASCII mean in the build what they mean in the source', async () => {
  const { stdout } = await scrape(['/notes', '--no-only-main-content'])
  expect(stdout).toBe('Text[^1]\n\n[^1]: Note\n')
})

describe('values that a schema checks do not change the output', () => {
  test.each([
    [['/article']],
    [['/article', '/plain']],
    [['/article', '--json']],
    [['/plain', '--formats', 'markdown,html,links,images,summary,rawHtml']],
    [['/article', '--formats', 'json', '--formats', 'summary']],
    [['/article', '--no-only-main-content', '--render', 'http']],
    [['/app']],
    [['/app', '/film', '/plain', '--ndjson']],
    [['/paper.pdf']],
    [['/rivers.csv']],
    [['/data.json', '--formats', 'markdown,json']],
    [['/feed']],
    [['/film']],
    [['/film', '--json']],
    [['/missing', '--fail-on-status']],
    [['http://']],
    [['file:///etc/passwd', '--json']],
    [['http://127.0.0.1:1/']],
    [['/plain', '--browser', '/nonexistent', '--render', 'browser', '--json']],
  ])('%j', async (words) => {
    const [short, long] = await Promise.all([scrape(words), scrape(words, ['--timeout', '30000'])])
    expect([short.code, stable(short.stdout), short.stderr]).toEqual([long.code, stable(long.stdout), long.stderr])
  })

  test('reads and writes files', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'bax-test-quick-'))
    try {
      await writeFile(join(cwd, 'pages.txt'), `# addresses\n${site.url}/plain\n`)
      const words = ['scrape', '--file', 'pages.txt', '-o', 'page.md', '--state-dir', state]
      expect(await built.run(words, { cwd })).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect(await readFile(join(cwd, 'page.md'), 'utf8')).toBe('# Plain\n\nA page in latin letters: Grüße.\n')
    } finally {
      await rm(cwd, { recursive: true, force: true })
    }
  })
})

describe('the scraper alone answers as the application does', () => {
  let scraper: Transport
  let application: Transport

  beforeAll(async () => {
    const io = ioIn(state)
    const context = { io, manifest: makeManifest(), settings: readSettings({ stateDir: state, embedded: true }, io) }
    ;[scraper, application] = await Promise.all([openScraper(context), openEmbedded(context)])
  })
  afterAll(() => Promise.all([scraper?.close(), application?.close()]))

  const answersTo = async (body: string) => {
    const headers = { 'content-type': 'application/json', prefer: 'handling=strict' }
    const ask = async (transport: Transport) => {
      const response = await transport.send({ method: 'POST', path: '/v1/scrape', headers, body })
      return { status: response.status, body: stable(await response.text()) }
    }
    return { own: await ask(scraper), expected: await ask(application) }
  }

  /** Values of each field, valid and invalid; a new field needs some. */
  const values: Readonly<Record<keyof ScrapeInput, readonly unknown[]>> = {
    url: ['/plain#a', '/plain?q=grün', '/pl ain', '/a\u0001b', '/a\u0085b', `/${'x'.repeat(limits.input.urlChars)}`],
    formats: [
      ['html', 'links'],
      ['markdown', 'markdown'],
      ['pdf'],
      Array(500).fill('markdown'),
      [{ type: 'links' }],
      [{ type: 'json', schema: 5 }],
    ],
    sign: [true, 'yes'],
    skip_tls_verification: [true, 'yes'],
    session_id: ['absent', 'a\u0001b'],
    prefer_markdown: ['never', 'sometimes'],
    wait_for: ['0'],
    json_options: [{ prompt: '' }, { schema: { type: 'object' } }, { schema: { type: 'nothing' } }],
    change_tracking_options: [{ modes: ['git-diff'] }, { modes: ['other'] }],
    only_main_content: ['true'],
    include_tags: [['main', '#a'], ['a:hover'], [''], 'main'],
    exclude_tags: [['nav'], ['::before']],
    remove_base64_images: [1],
    render: ['http', 'never', ['http']],
    timeout: [30_000, '30000', limits.scrape.maxTimeoutMs + 1],
    max_age: ['1'],
    block_ads: ['on'],
    remove_overlays: ['off'],
    allowed_domains: [['127.0.0.1'], ['example.com'], ['a b'], Array(500).fill('example.com')],
    actions: [[{ type: 'click' }], [{ type: 'dance' }], Array.from({ length: 500 }, () => ({ type: 'scrape' }))],
    profile: ['absent', 'a\u0001b'],
    save_profile: ['true'],
    headers: [{ 'X-A': 'b' }, { Host: 'b' }, { 'x y': 'b' }, { 'X-A': 'b\r\nc: d' }, { 'X-A': 1 }],
    cookies: ['a=1', 'a', [{ name: 'a', value: 'b' }], [{ name: '' }], '[', 'curl x'],
    user_agent: ['Reader/1.0', 'Reader\n'],
    locale: ['de-DE', 'Deutsch'],
    timezone: ['Europe/Berlin', 'Mars/Phobos'],
    location: [{ country: 'AT' }, { country: 'Austria' }, { languages: [] }],
    proxy: ['basic', 'ftp://proxy', ['http://127.0.0.1:1', 5], [], { server: '' }],
    geolocation: [
      { latitude: 48, longitude: 16 },
      { latitude: 100, longitude: 16 },
    ],
    mobile: ['on'],
    origin: ['x'.repeat(10_000)],
    integration: ['x'.repeat(10_000)],
  }

  const ofAnyType = [null, true, false, 0, -1, 1e15, '', 'markdown', [], [null], {}, { other: 1 }]

  test.each(Object.entries(values))('for %s', async (name, own) => {
    for (const value of [...own, ...ofAnyType]) {
      const url = `${site.url}${name === 'url' && typeof value === 'string' ? value : '/plain'}`
      const input = name === 'url' ? { url: typeof value === 'string' && value ? url : value } : { url, [name]: value }
      const { own: answer, expected } = await answersTo(JSON.stringify(input))
      expect({ input, ...answer }).toEqual({ input, ...expected })
    }
  })

  test.each([
    ['no URL', '{}'],
    ['an unknown field', JSON.stringify({ url: 'http://127.0.0.1:1/', colour: 'red' })],
    ['a misspelled field', JSON.stringify({ url: 'http://127.0.0.1:1/', allowedDomain: ['example.com'] })],
    ['the other spelling of a field', JSON.stringify({ url: 'http://127.0.0.1:1/', blockAds: 'no' })],
    ['deep nesting', `{"url":"http://127.0.0.1:1/","json_options":${'{"schema":'.repeat(300)}1${'}'.repeat(301)}`],
    ['a list', '[]'],
  ])('for %s', async (_, body) => {
    const { own, expected } = await answersTo(body)
    expect(own).toEqual(expected)
    expect(own.status).toBe(400)
  })
})

test('reports invalid flags', async () => {
  expect(await scrape(['/plain', '--formats', 'pdf'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('formats'),
  })
  expect(await scrape(['/plain', '--format', 'html'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean --formats'),
  })
  expect(await scrape(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--no-only-main-content') })
})

test('works without V8’s code cache, and with that of another Node version', async () => {
  const cache = join(dirname(built.program), 'scraper.js.cache')
  const kept = await readFile(cache)
  try {
    await writeFile(cache, kept.subarray(0, kept.length / 2))
    expect((await scrape(['/plain'])).stdout).toContain('# Plain')
    await rm(cache)
    expect((await scrape(['/plain'])).stdout).toContain('# Plain')
  } finally {
    await writeFile(cache, kept)
  }
})

test('uses a running local engine', async () => {
  const other = await built.stateDir()
  const { code } = await built.run(['session', 'create', '--headless', '--state-dir', other])
  expect(code).toBe(0)
  const response = await built.run(['scrape', `${site.url}/plain`, '--json', '--state-dir', other])
  expect(JSON.parse(response.stdout)).toMatchObject({ success: true, data: { metadata: { title: 'Plain' } } })
  // Only an engine that outlives its calls can return a cached answer.
  const again = await built.run(['scrape', `${site.url}/plain`, '--json', '--max-age', '60000', '--state-dir', other])
  expect(JSON.parse(again.stdout)).toMatchObject({ success: true })
  const cached = await built.run(['scrape', `${site.url}/plain`, '--json', '--max-age', '60000', '--state-dir', other])
  expect(JSON.parse(cached.stdout).data.metadata.cached_at).toMatch(/^\d{4}-/)
})
