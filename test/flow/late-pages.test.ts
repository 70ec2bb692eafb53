import PQueue from 'p-queue'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawl } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { latePages, lateSite, sendLater } from '../support/late-pages.ts'
import { type Site, serveSite } from '../support/site.ts'

const kinds = Object.keys(latePages)
/** Kinds that depend on what a browser loads and paints. */
const visualKinds = kinds.filter((kind) => /^(?:image|frames|intersection|idle|interval$|spinner-replaced)/.test(kind))
const forever = (body: string) => `<!doctype html><title>Late</title>${body}<script>setInterval(() => {}, 50)</script>`

let homes: Homes
let site: Site
const answers = new Map<string, Promise<Awaited<ReturnType<typeof scrape>>>>()

const scrape = (path: string, input: Record<string, unknown> = {}) =>
  homes.clients.http.scrape({ url: `${site.url}${path}`, ...input } as never)

/** Responds to `GET` once; later requests never get a response. */
function serveOnce(html: string) {
  let count = 0
  return (_: unknown, response: import('node:http').ServerResponse): void => {
    if (count++ === 0) response.setHeader('content-type', 'text/html').end(html)
  }
}

const promising =
  '<main><h1>Rivers</h1><p>What was sent of the page.</p><ul id="list"></ul></main><script>fetch("/x").then(() => { document.getElementById("list").innerHTML = "x" })</script>'

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite(
    {
      ...lateSite,
      '/still': '<!doctype html><title>Nothing</title><div></div>',
      '/blank': forever('<div id="root"></div>'),
      '/spinning': forever('<nav><a href="/a">Home</a></nav><main><p>Loading, please wait…</p></main>'),
      '/notice': forever('<p>You need to enable JavaScript to run this app.</p>'),
      '/hangs': serveOnce(promising),
      '/hangs-empty': serveOnce('<div id="root"></div><script src="/x.js"></script>'),
      '/hangs-crawled': serveOnce(promising),
      '/article': `<main><h1>Short</h1><p>A page that is complete.</p></main><script>setInterval(() => {}, 50)</script>`,
    },
    '127.0.0.1',
    sendLater,
  )
  // Mostly waiting: several run concurrently.
  const queue = new PQueue({ concurrency: 6 })
  const ask = (name: string, path: string, input?: Record<string, unknown>) =>
    answers.set(name, queue.add(() => scrape(path, input)) as ReturnType<typeof scrape>)
  for (const path of ['/blank', '/spinning', '/notice']) ask(path, path)
  for (const kind of kinds) ask(kind, `/${kind}`)
  for (const kind of visualKinds) ask(`${kind} screenshot`, `/${kind}`, { formats: ['markdown', 'screenshot'] })
  for (const path of ['/hangs', '/hangs-empty']) ask(path, path, { timeout: 10_000 })
  await Promise.allSettled(answers.values())
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

describe('a page that shows its content late', () => {
  test.each(kinds)('%s is read completely', async (kind) => {
    const { data, warning_code: code } = await answers.get(kind)!
    expect(data!.metadata.render).toBe('browser')
    for (const text of latePages[kind]!.texts) expect(data!.markdown).toContain(text)
    expect(code).toBeUndefined()
  })

  test.each(visualKinds)('%s has the same Markdown when a screenshot is taken', async (kind) => {
    const [plain, shot] = await Promise.all([answers.get(kind)!, answers.get(`${kind} screenshot`)!])
    expect(shot.data!.markdown).toBe(plain.data!.markdown)
    expect(shot.data!.screenshot).toBeDefined()
  })

  test('is read completely in a crawl', async () => {
    const { data } = await crawl(homes.clients.http, `${site.url}/spinner-replaced`)
    expect(data[0]!.markdown).toContain('Instead of a spinner')
  })
})

describe('a page without content', () => {
  test.each([
    ['/blank', 'the page shows no text'],
    ['/spinning', 'the page shows nothing but "Loading, please wait…"'],
    ['/notice', 'the page shows nothing but "You need to enable JavaScript to run this app."'],
  ])('%s is waited for, and returned with a warning', async (path, warning) => {
    expect(await answers.get(path)!).toMatchObject({ success: true, warning, warning_code: 'empty_page' })
  })

  test('returns a warning at once if it has no scripts', async () => {
    const answer = await scrape('/still')
    expect(answer).toMatchObject({ success: true, warning_code: 'empty_page', data: { markdown: '' } })
    expect(answer.data!.metadata.render).toBe('http')
  })

  test('has its warning in the data of a crawl', async () => {
    const { data } = await crawl(homes.clients.http, `${site.url}/still`)
    expect(data).toMatchObject([{ warning: 'the page shows no text', warning_code: 'empty_page' }])
  })
})

describe('a page that cannot be rendered', () => {
  test('is returned as it was fetched, with a warning', async () => {
    const answer = await answers.get('/hangs')!
    expect(answer).toMatchObject({ success: true, warning_code: 'render_failed' })
    expect(answer.warning).toMatch(/may be incomplete: it could not be rendered \(rendering took longer than \d+ ms\)/)
    expect(answer.data!.markdown).toContain('What was sent of the page.')
    expect(answer.data!.metadata.render).toBe('http')
  })

  test('fails if nothing was fetched that could be read', async () => {
    await expect(answers.get('/hangs-empty')).rejects.toMatchObject({ code: 'timeout' })
  })

  test('is kept by a crawl, with a warning', async () => {
    const answer = await crawl(homes.clients.http, `${site.url}/hangs-crawled`, { timeout: 10_000 })
    expect(answer).toMatchObject({ success: true, errors: [], data: [{ warning_code: 'render_failed' }] })
    expect(answer.data[0]!.markdown).toContain('What was sent of the page.')
    expect(answer.warning).toContain('/hangs-crawled: the page may be incomplete: it could not be rendered')
  })
})
