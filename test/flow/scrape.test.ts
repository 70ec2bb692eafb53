import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HomeName, homeNames, type Homes, openHomes } from '../support/homes.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, respondWith } from '../support/web.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/articles/deltas': article,
    '/base':
      '<!doctype html><base href="https://cdn.example/x/"><p><a href="a">A</a> <a href="a">again</a> <a href="javascript:x">J</a></p>',
    '/missing': respondWith('text/html', '<title>Gone fishing</title><h1>No such page</h1>', {}, 404),
    '/brand': `<!doctype html><title>Acme</title><meta property="og:site_name" content="Acme"><link rel="icon" href="/i.png">
      <style>body { background: #ffffff; color: #202020; font-family: Inter, sans-serif } h1 { font-family: Lora, serif }
      .btn { background: #e4002b; color: #fff; padding: 8px 16px; border: 0; border-radius: 6px } a { color: #0057b8 }</style>
      <header><a href="/"><img class="logo" src="/logo.png" width="120" height="40" alt="Acme logo"></a></header>
      <main><h1>Acme</h1><p>Things for coyotes, delivered. <a href="/all">See all things</a></p><button class="btn">Buy</button></main>`,
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const address = (path: string) => `${site.url}${path}`

describe.each(homeNames)('scrape through %s', (home: HomeName) => {
  const scrape = async (path: string, input: Record<string, unknown> = {}) => {
    const answer = await homes.clients[home].scrape({ url: address(path), ...input } as never)
    return { answer, data: answer.data!, metadata: answer.data!.metadata }
  }

  test('returns the main content as Markdown, and metadata', async () => {
    const { answer, data, metadata } = await scrape('/articles/deltas')
    expect(answer.success).toBe(true)
    expect(Object.keys(data).toSorted()).toEqual(['markdown', 'metadata'])
    expect(data.markdown).toContain('# How deltas grow')
    expect(data.markdown).toContain(`[sediment](${address('/articles/sediment?x=1#top')})`)
    expect(data.markdown).toContain('```js\nconst delta = 1\n```')
    expect(data.markdown).toMatch(/\| River +\| Length +\|/)
    expect(data.markdown).not.toMatch(/About|All rights reserved|data:image/)
    expect(metadata).toMatchObject({
      title: 'How deltas grow',
      description: 'Rivers build land where they meet the sea.',
      sourceURL: address('/articles/deltas'),
      url: address('/articles/deltas'),
      status_code: 200,
      language: 'en',
      author: 'Ada Rivers',
      published_time: '2026-03-01T08:00:00Z',
      canonical: address('/articles/deltas'),
      favicon: address('/icon.png'),
      robots: 'index,follow',
      ogImage: address('/delta.png'),
      ogSiteName: 'River News',
      charset: 'utf-8',
      content_type: 'text/html; charset=utf-8',
      render: 'http',
      redirects: [],
    })
    expect(metadata.scrape_id).toMatch(/^scr_/)
    expect(metadata.duration_ms).toBeGreaterThanOrEqual(0)
  })

  test('returns every textual format in one call', async () => {
    const formats = ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary', 'json'] as const
    const { data, metadata } = await scrape('/articles/deltas', { formats })
    expect(data.rawHtml).toBe(article)
    expect(data.html).toContain('<h1>How deltas grow</h1>')
    expect(data.html).not.toMatch(/<script|<style|onclick|<!-- a comment|data:image/)
    expect(data.links).toEqual([
      { href: address('/'), text: 'Home' },
      { href: address('/about'), text: 'About' },
      { href: address('/articles/sediment?x=1#top'), text: 'sediment' },
      { href: address('/legal'), text: 'Legal' },
    ])
    expect(data.images).toEqual([{ src: address('/articles/map.png'), alt: 'A map' }])
    expect(data.summary!.match(/[.!?](?:\s|$)/g)!.length).toBeGreaterThanOrEqual(2)
    expect(data.summary).toContain('delta')
    expect(metadata).toMatchObject({ summary_source: 'extractive', json_source: 'heuristic' })
  })

  test('fills a schema by rules when no model is configured', async () => {
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' }, author: { type: 'string' }, price: { type: ['number', 'null'] } },
    }
    const { data, metadata } = await scrape('/articles/deltas', { formats: [{ type: 'json', schema }] })
    expect(data.json).toMatchObject({ title: 'How deltas grow', price: null })
    expect(metadata.json_valid).toBe(true)
  })

  test('takes a screenshot of the viewport, or of the whole page', async () => {
    const { data, metadata } = await scrape('/articles/deltas', { formats: ['screenshot'] })
    expect(sizeOf(data.screenshot!)).toEqual({ width: 1280, height: 720 })
    expect(metadata.render).toBe('browser')
    const whole = await scrape('/articles/deltas', { formats: ['screenshot@fullPage'] })
    expect(sizeOf(whole.data.screenshot!).width).toBe(1280)
  })

  test('reads the branding of a page: colours, fonts, logo, favicon', async () => {
    const { data } = await scrape('/brand', { formats: ['branding'] })
    expect(data.branding).toMatchObject({
      colorScheme: 'light',
      brandName: 'Acme',
      logo: address('/logo.png'),
      favicon: address('/i.png'),
      colors: { primary: '#E4002B', background: '#FFFFFF', textPrimary: '#202020', link: '#0057B8' },
      fonts: [
        { family: 'Inter', role: 'body' },
        { family: 'Lora', role: 'heading' },
      ],
      images: { logo: address('/logo.png'), favicon: address('/i.png') },
      components: { buttonPrimary: { background: '#E4002B', textColor: '#FFFFFF', borderRadius: '6px' } },
    })
  })

  test('answers an error status as a success with a warning', async () => {
    const { answer, data, metadata } = await scrape('/missing')
    expect(answer).toMatchObject({ success: true, warning: expect.stringContaining('404') })
    expect(data.markdown).toContain('# No such page')
    expect(metadata).toMatchObject({ status_code: 404, error: 'Not Found' })
  })

  test('accepts camelCase names and formats as objects', async () => {
    const { data } = await scrape('/articles/deltas', {
      formats: ['html', { type: 'screenshot', fullPage: true }],
      onlyMainContent: false,
      removeBase64Images: false,
      waitFor: 1,
    })
    expect(data.html).toContain('All rights reserved')
    expect(data.html).toContain('data:image/png;base64,iVBORw0KGgo=')
    expect(data.screenshot).toBeTruthy()
  })
})

describe('options', () => {
  const scrape = (input: Record<string, unknown>) => homes.clients.http.scrape(input as never)

  test('returns the whole page on request', async () => {
    const { data } = await scrape({ url: address('/articles/deltas'), only_main_content: false })
    expect(data!.markdown).toMatch(/All rights reserved/)
  })

  test('keeps inline images on request', async () => {
    const { data } = await scrape({ url: address('/articles/deltas'), remove_base64_images: false })
    expect(data!.markdown).toContain('![Inline](data:image/png;base64,iVBORw0KGgo=)')
  })

  test('resolves links against <base>, each once, without scripts', async () => {
    const { data } = await scrape({ url: address('/base'), formats: ['links'] })
    expect(data!.links).toEqual([{ href: 'https://cdn.example/x/a', text: 'A' }])
  })

  test('uses http for a loopback address without a scheme', async () => {
    const { data } = await scrape({ url: address('/base').replace('http://', '') })
    expect(data!.metadata).toMatchObject({ url: address('/base'), sourceURL: address('/base').replace('http://', '') })
  })

  test('is deterministic', async () => {
    const twice = await Promise.all(
      [1, 2].map(() => scrape({ url: address('/articles/deltas'), formats: ['markdown', 'html'] })),
    )
    expect(twice[0]!.data!.markdown).toBe(twice[1]!.data!.markdown)
    expect(twice[0]!.data!.html).toBe(twice[1]!.data!.html)
  })

  test('returns a cached answer within max_age, with its time', async () => {
    const input = { url: address('/articles/deltas?cached'), max_age: 60_000 }
    const first = await scrape(input)
    const before = site.requests.length
    const second = await scrape(input)
    expect(site.requests.length).toBe(before)
    expect(second.data!.metadata.scrape_id).toBe(first.data!.metadata.scrape_id)
    expect(second.data!.metadata.cached_at).toMatch(/^\d{4}-/)
    const other = await scrape({ ...input, formats: ['rawHtml'] })
    expect(other.data!.rawHtml).toContain('<html')
    // The cached answer is older than a millisecond.
    const requests = site.requests.length
    for (const max_age of [1, 0]) {
      const fresh = await scrape({ ...input, max_age })
      expect(fresh.data!.metadata.cached_at).toBeUndefined()
    }
    expect(site.requests.length).toBe(requests + 2)
  })

  test.each([
    ['no url', {}, 'url'],
    ['an invalid url', { url: 'http://' }, 'url'],
    ['an unknown format', { url: 'example.com', formats: ['pdf'] }, 'formats[0]'],
    ['a wait beyond its limit', { url: 'example.com', wait_for: 60_001 }, 'wait_for'],
    ['an unknown action', { url: 'example.com', actions: [{ type: 'fly' }] }, 'actions[0].type'],
    [
      'a wait action without a duration',
      { url: 'example.com', actions: [{ type: 'wait' }] },
      'actions[0].milliseconds',
    ],
    [
      'too many actions',
      { url: 'example.com', actions: Array.from({ length: 51 }, () => ({ type: 'scroll' })) },
      'actions',
    ],
    ['a screenshot without a browser', { url: 'example.com', formats: ['screenshot'], render: 'http' }, 'render'],
  ])('responds to %s with 400 and its path', async (_, input, path) => {
    const failure = await scrape(input).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'invalid_request', details: [expect.objectContaining({ path })] })
  })

  test.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'chrome://version',
    'javascript:1',
    'data:text/html,x',
    'about:blank',
  ])('rejects %s', async (url) => {
    await expect(scrape({ url })).rejects.toMatchObject({ code: 'url_blocked', message: 'URL blocked' })
  })
})

function sizeOf(screenshot: string): { width: number; height: number } {
  const bytes = Buffer.from(screenshot, 'base64')
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}
