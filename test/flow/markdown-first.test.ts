/** Markdown that sites offer in place of pages. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ScrapeAnswer } from '../../src/core/shapes/scrape.ts'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import { pathOf } from '../support/crawl.ts'
import { type HomeName, type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { article, respondWith } from '../support/web.ts'

const sentences = (count: number) =>
  Array.from({ length: count }, (_, at) => `Sentence ${at} tells of deltas, and of the rivers that build them.`).join(
    ' ',
  )
const markdown = `---\ntitle: Deltas\ntags: [rivers]\n---\n# Deltas grow\n\n${sentences(40)}\n\n[Silt](silt)\n`
const html = (words: string, head = '') =>
  `<!doctype html><html lang=en><head><title>Page</title>${head}</head><body><nav><a href="/">Home</a></nav><main><h1>Page</h1><p>${words}</p></main></body></html>`
const stub = '# Page\n\nThis page is best viewed in a browser.\n'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Responds with Markdown to requests that prefer it. */
const negotiated =
  (text: string, page: string): Handler =>
  (request, response) => {
    const isMarkdown = request.headers.accept!.startsWith('text/markdown')
    response.setHeader('vary', 'accept').setHeader('content-type', isMarkdown ? 'text/markdown' : 'text/html')
    response.end(isMarkdown ? text : page)
  }

/** Responds with an error to requests that prefer Markdown. */
const refusing =
  (status: number, body = '', type = 'application/x-problem'): Handler =>
  (request, response) => {
    const isMarkdown = request.headers.accept!.startsWith('text/markdown')
    response.writeHead(isMarkdown ? status : 200, { 'content-type': isMarkdown ? type : 'text/html' })
    response.end(isMarkdown ? body : html(sentences(40)))
  }

const linked = (href: string, words = sentences(40)) =>
  html(
    words,
    `<meta property="og:site_name" content="River News"><link rel="alternate" type="text/markdown" href="${href}">`,
  )

let homes: Homes
let site: Site
let other: Site

beforeAll(async () => {
  homes = await openHomes()
  other = await serveSite({ '/x.md': respondWith('text/markdown', markdown) }, 'localhost')
  site = await serveSite({
    '/plain': article,
    '/both': negotiated(markdown, html(sentences(40))),
    '/silt': negotiated(`# Silt\n\n${sentences(30)}\n`, html(sentences(30))),
    '/stub': negotiated(stub, html(sentences(40))),
    '/cut': negotiated(`# Page\n\n${sentences(30)}\n\n[Read more](/cut)\n`, html(sentences(120))),
    '/broken': (request, response) =>
      void (request.headers.accept!.startsWith('text/markdown')
        ? response.setHeader('content-type', 'text/markdown').end(stub)
        : response.destroy()),
    '/film': (request, response) =>
      void response
        .setHeader('content-type', request.headers.accept!.startsWith('text/markdown') ? 'text/markdown' : 'video/mp4')
        .end(stub),
    '/inline': negotiated(`# Inline\n\n${sentences(40)}\n\n![Dot](data:image/png;base64,iVBORw0KGgo=)\n`, ''),
    '/short': negotiated('# Short\n\nAll of it.\n', html('All of it.')),
    '/moved': (_, response) => void response.writeHead(302, { location: '/both' }).end(),
    '/drawn': negotiated(
      stub,
      `<!doctype html><title>App</title><div id="root"></div><script>root.innerHTML = '<h1>Drawn</h1><p>' + ${JSON.stringify(sentences(40))} + '</p>'</script>`,
    ),
    '/linked': linked('linked.md'),
    '/linked.md': respondWith('text/markdown; charset=utf-8', markdown),
    '/header': (_, response) =>
      void response
        .writeHead(200, {
          'content-type': 'text/html',
          link: '</style.css>; rel=preload, </linked.md>; rel="alternate"; type="text/markdown"',
        })
        .end(html(sentences(40))),
    '/linked-stub': linked('/stub.md'),
    '/stub.md': respondWith('text/plain', stub),
    '/linked-missing': linked('/missing.md'),
    '/linked-elsewhere': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end(linked(`${other.url}/x.md`)),
    '/listed': html(sentences(40)),
    '/listed.md': respondWith('text/plain; charset=utf-8', markdown),
    '/llms.txt': respondWith('text/plain', '# Site\n\n## Docs\n\n- [Listed](/listed.md): What deltas are\n'),
  })
})
afterAll(async () => {
  await homes.close()
  await Promise.all([site.close(), other.close()])
})

const scrape = async (path: string, options: Record<string, unknown> = {}, home: HomeName = 'http') => {
  const before = site.requests.length
  const answer = (await homes.clients[home].scrape({ url: `${site.url}${path}`, ...options } as never)) as ScrapeAnswer
  return { ...answer, requests: site.requests.slice(before) }
}

describe.each(usualHomes)('through %s', (home: HomeName) => {
  test('Markdown that the server sends is used as it is', async () => {
    const { data, requests, warning } = await scrape('/both', {}, home)
    expect(data).toMatchObject({
      markdown: markdown.replace(/^---[\s\S]*?---\n/, '').replace('(silt)', `(${site.url}/silt)`),
      metadata: {
        title: 'Deltas',
        source_format: 'markdown',
        content_type: 'text/markdown',
        front_matter: { title: 'Deltas', tags: ['rivers'] },
        url: `${site.url}/both`,
      },
    })
    expect({ requests, warning }).toEqual({ requests: ['/both'], warning: undefined })
  })
})

test('a redirect leads to Markdown', async () => {
  const { data } = await scrape('/moved')
  expect(data!.metadata).toMatchObject({ source_format: 'markdown', url: `${site.url}/both` })
})

test.each([
  { formats: ['markdown', 'html'] },
  { formats: ['rawHtml'] },
  { formats: ['markdown', 'links'] },
  { only_main_content: false },
  { prefer_markdown: 'never' },
])('with %j the HTML is read', async (options) => {
  const { data, requests } = await scrape('/both', options)
  expect(data!.metadata).toMatchObject({ title: 'Page', content_type: 'text/html' })
  expect(data!.metadata.source_format).toBeUndefined()
  expect(requests).toEqual(['/both'])
})

test('cached answers are kept apart', async () => {
  const kept = { max_age: 60_000 }
  expect((await scrape('/both', kept)).data!.metadata.source_format).toBe('markdown')
  expect((await scrape('/both', { ...kept, prefer_markdown: 'never' })).data!.metadata.source_format).toBeUndefined()
  expect((await scrape('/both', kept)).requests).toEqual([])
})

describe('Markdown that is much shorter than the page', () => {
  test.each(['/stub', '/cut', '/linked-stub', '/drawn'])('of %s is reported, and the page is used', async (path) => {
    const { data, warning, warning_code } = await scrape(path)
    expect(data!.markdown).toContain('Sentence 39 tells')
    expect(data!.metadata.source_format).toBeUndefined()
    expect({ warning, warning_code }).toEqual({
      warning: expect.stringMatching(
        /^the page is used: its Markdown has \d+ letters, and the main content of the page \d+/,
      ),
      warning_code: 'markdown_incomplete',
    })
  })

  test('a short page has short Markdown', async () => {
    const { data, warning, requests } = await scrape('/short')
    expect(data).toMatchObject({ markdown: '# Short\n\nAll of it.\n', metadata: { source_format: 'markdown' } })
    expect({ warning, requests }).toEqual({ warning: undefined, requests: ['/short', '/short'] })
  })
})

test.each(['/broken', '/film'])('short Markdown is used where the HTML of %s cannot be read', async (path) => {
  const { data, warning } = await scrape(path)
  expect({ data, warning }).toMatchObject({ data: { markdown: stub, metadata: { source_format: 'markdown' } } })
})

test('short Markdown is used where no browser can draw the page', async () => {
  const bare = await openHomes({ home: 'embedded', browser: '/nonexistent/chromium' })
  try {
    const answer = await bare.clients.http.scrape({ url: `${site.url}/drawn` } as never)
    expect(answer).toMatchObject({ success: true, data: { markdown: stub } })
  } finally {
    await bare.close()
  }
})

test('inline images are removed from Markdown, unless they are requested', async () => {
  expect((await scrape('/inline')).data!.markdown).not.toContain('data:')
  expect((await scrape('/inline', { remove_base64_images: false })).data!.markdown).toContain(
    '![Dot](data:image/png;base64,iVBORw0KGgo=)',
  )
})

test('a site whose pages need a browser is asked for Markdown', async () => {
  const drawn = (words: string) =>
    `<!doctype html><title>App</title><div id="root"></div><script>root.innerHTML = '<h1>${words}</h1><p>' + ${JSON.stringify(sentences(40))}.replaceAll('tells', '${words}') + '</p>'</script>`
  const own = await serveSite({
    ...Object.fromEntries(['one', 'two', 'three'].map((name) => [`/${name}`, drawn(name)])),
    '/both': negotiated(markdown, drawn('both')),
  })
  try {
    const read = async (path: string) =>
      ((await homes.clients.http.scrape({ url: `${own.url}${path}` } as never)) as ScrapeAnswer).data!.metadata
    for (const path of ['/one', '/two']) expect((await read(path)).render).toBe('browser')
    expect(await read('/both')).toMatchObject({ source_format: 'markdown', render: 'http' })
    expect((await read('/three')).render).toBe('browser')
  } finally {
    await own.close()
  }
})

describe('Markdown at another URL', () => {
  test.each(['/linked', '/header'])('is found by the link of %s', async (path) => {
    const { data } = await scrape(path)
    expect(data).toMatchObject({
      markdown: expect.stringContaining(`[Silt](${site.url}/silt)`),
      metadata: {
        title: 'Deltas',
        language: 'en',
        url: `${site.url}${path}`,
        sourceURL: `${site.url}${path}`,
        markdown_url: `${site.url}/linked.md`,
        source_format: 'markdown',
      },
    })
  })

  test('keeps the metadata of the page', async () => {
    expect((await scrape('/linked')).data!.metadata).toMatchObject({ ogSiteName: 'River News' })
  })

  test.each(['/linked-missing', '/linked-elsewhere'])('is not used for %s', async (path) => {
    const { data, warning } = await scrape(path)
    expect(data!.markdown).toContain('# Page')
    expect(warning).toBeUndefined()
    expect(other.requests).toEqual([])
  })

  test('is found in llms.txt on request', async () => {
    const { data, requests } = await scrape('/listed', { prefer_markdown: 'always' })
    expect(data!.metadata).toMatchObject({ markdown_url: `${site.url}/listed.md`, title: 'Deltas' })
    expect(requests).toEqual(['/listed', '/llms.txt', '/listed.md'])
    expect((await scrape('/listed', { prefer_markdown: 'always' })).requests).toEqual(['/listed', '/listed.md'])
    expect((await scrape('/listed')).requests).toEqual(['/listed'])
  })

  test('is found for a scrape that waited for the llms.txt of one that was aborted', async () => {
    let isFirst = true
    const own = await serveSite({
      '/listed': html(sentences(40)),
      '/listed.md': respondWith('text/plain', markdown),
      '/llms.txt': (_, response) => {
        if (!isFirst) response.setHeader('content-type', 'text/plain').end('- [Listed](/listed.md)\n')
        isFirst = false
      },
    })
    const read = (signal?: AbortSignal) =>
      homes.clients.embedded.scrape({ url: `${own.url}/listed`, prefer_markdown: 'always' } as never, {
        ...(signal && { signal }),
      })
    try {
      const leaving = new AbortController()
      const first = read(leaving.signal).catch((error: Error) => error.name)
      await waitUntil(() => own.requests.includes('/llms.txt'))
      const second = read()
      await waitUntil(() => own.requests.filter((path) => path === '/listed').length === 2)
      leaving.abort()
      expect(await first).toBe('AbortError')
      expect(await second).toMatchObject({ data: { metadata: { markdown_url: `${own.url}/listed.md` } } })
    } finally {
      await own.close()
    }
  })
})

test('servers that refuse to send Markdown are asked for HTML, and then not again', async () => {
  const own = await serveSite({ '/406': refusing(406), '/500': refusing(500), '/type': refusing(200, 'x') })
  try {
    for (const path of ['/406', '/500', '/type']) {
      const url = `${own.url}${path}`
      const answer = (await homes.clients.http.scrape({ url } as never)) as ScrapeAnswer
      expect(answer).toMatchObject({ success: true, data: { metadata: { title: 'Page', status_code: 200 } } })
    }
    expect(own.requests).toEqual(['/406', '/406', '/500', '/type'])
  } finally {
    await own.close()
  }
})

test('an empty file, and a server that fails once, are no refusal', async () => {
  const own = await serveSite({
    '/empty': negotiated('\n', html(sentences(40))),
    '/500': refusing(500, '', 'text/plain'),
    '/both': negotiated(markdown, ''),
  })
  try {
    const read = async (path: string) =>
      ((await homes.clients.http.scrape({ url: `${own.url}${path}` } as never)) as ScrapeAnswer).data!.metadata
    for (const path of ['/empty', '/500'])
      expect(await read(path)).toMatchObject({ title: 'Page', status_code: 200, content_type: 'text/html' })
    expect((await read('/both')).source_format).toBe('markdown')
    expect(own.requests).toEqual(['/empty', '/empty', '/500', '/500', '/both'])
  } finally {
    await own.close()
  }
})

test('a page without Markdown is requested once', async () => {
  expect((await scrape('/plain')).requests).toEqual(['/plain'])
})

describe('a crawl', () => {
  const crawl = async (input: Record<string, unknown>) => {
    const answer = (await homes.clients.http.crawl({
      url: `${site.url}/both`,
      max_depth: 1,
      ...input,
    } as never)) as CrawlAnswer
    return answer.data.map(({ metadata }) => [pathOf(metadata.sourceURL), metadata.source_format])
  }

  test('reads HTML, which has all links', async () => {
    const read = await crawl({ limit: 3 })
    expect(read).toEqual([
      ['/both', undefined],
      ['/', undefined],
      ['/listed.md', 'markdown'],
    ])
  })

  test('reads Markdown on request, and follows its links', async () => {
    const read = await crawl({ limit: 3, prefer_markdown: 'always', llms: 'skip' })
    expect(read).toEqual([
      ['/both', 'markdown'],
      ['/silt', 'markdown'],
    ])
  })

  test('of llms.txt alone reads Markdown', async () => {
    expect(await crawl({ llms: 'only' })).toEqual([
      ['/both', 'markdown'],
      ['/listed.md', 'markdown'],
    ])
  })
})
