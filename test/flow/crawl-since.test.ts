/** Recurring crawls: what has changed since an earlier one. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import { CrawlStore } from '../../src/engine/crawl/store/crawl-store.ts'
import { bax } from '../support/cli.ts'
import { linkPage, pathOf } from '../support/crawl.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'
import { serveSite, type Site } from '../support/site.ts'

const noFolder = isFleet ? 'a fleet has no state folder' : null

let homes: Homes
let site: Site
/** Pages of the site, by path; removed ones respond with 404. */
let pages: Record<string, string> = {}
/** Status of each response, by path. */
let statuses: Record<string, number> = {}
/** Status that pages respond with instead of their content, by path. */
let failing: Record<string, number> = {}
/** Pages without ETag and date. */
const unversioned = new Set(['/plain', '/plain/inner'])
let robots = ''
/** Dates of pages without ETag. */
const dated = new Set(['/dated'])

function respond(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url!
  if (failing[path] !== undefined) {
    statuses[path] = failing[path]
    response.writeHead(failing[path], { 'content-type': 'text/html' }).end('<p>Not now</p>')
    return
  }
  const html = pages[path]
  const etag = html && !unversioned.has(path) && `"${createHash('sha1').update(html).digest('hex')}"`
  const isKnown = dated.has(path)
    ? request.headers['if-modified-since'] === 'Sun, 01 Mar 2026 08:00:00 GMT'
    : etag && request.headers['if-none-match'] === etag
  const status = html === undefined ? 404 : isKnown ? 304 : 200
  statuses[path] = status
  response.writeHead(status, {
    'content-type': 'text/html',
    ...(dated.has(path) ? { 'last-modified': 'Sun, 01 Mar 2026 08:00:00 GMT' } : etag && { etag }),
  })
  response.end(status === 200 ? html : '')
}

const paths = [
  '/',
  '/a',
  '/a/inner',
  '/a/inner/deep',
  '/dated',
  '/gone',
  '/unlinked',
  '/fresh',
  '/plain',
  '/plain/inner',
  '/sitemap.xml',
]

beforeAll(async () => {
  homes = await openHomes()
  const robotsTxt = (_request: IncomingMessage, response: ServerResponse) => void response.end(robots)
  site = await serveSite({ ...Object.fromEntries(paths.map((path) => [path, respond])), '/robots.txt': robotsTxt })
})
afterAll(async () => {
  await homes.close()
  await site.close()
})
beforeEach(() => {
  failing = {}
  robots = ''
  pages = {
    '/': linkPage('Home', ['/a', '/dated', '/gone', '/unlinked']),
    '/a': linkPage('A', ['/a/inner'], '<p>One line.</p>'),
    '/a/inner': linkPage('Inner'),
    '/dated': linkPage('Dated'),
    '/gone': linkPage('Gone'),
    '/unlinked': linkPage('Unlinked'),
  }
})

/** Changes the site: a page is new, two are changed, one is 404, and one is linked no more. */
function change(): void {
  statuses = {}
  pages['/'] = linkPage('Home', ['/a', '/dated', '/gone', '/fresh'])
  pages['/a'] = linkPage('A', ['/a/inner'], '<p>Another line.</p>')
  pages['/fresh'] = linkPage('Fresh')
  delete pages['/gone']
}

const crawl = async (input: object = {}) =>
  (await homes.clients.http.crawl({
    url: site.url,
    limit: 20,
    max_depth: 5,
    render: 'http',
    ...input,
  } as never)) as CrawlAnswer

describe('a crawl with since', () => {
  test('keeps unchanged pages, follows their links, and reports the changes with diffs', async () => {
    const { id } = await crawl()
    change()
    const answer = await crawl({ since: id })
    const urls = (list: readonly string[]) => list.map(pathOf)
    const { changes } = answer
    expect(urls(changes!.new)).toEqual(['/fresh'])
    expect(urls(changes!.changed)).toEqual(['/', '/a'])
    expect(urls(changes!.removed)).toEqual(['/gone', '/unlinked'])
    expect(changes!.unchanged).toBe(2)
    expect(statuses).toMatchObject({ '/': 200, '/a': 200, '/a/inner': 304, '/dated': 304, '/gone': 404, '/fresh': 200 })
    const page = (path: string) => answer.data.find(({ metadata }) => pathOf(metadata.sourceURL) === path)!
    expect(page('/a').changeTracking).toMatchObject({ changeStatus: 'changed', previousScrapeAt: expect.any(String) })
    expect(page('/a').changeTracking!.diff!.text).toMatch(
      /^@@ -\d+,\d+ \+\d+,\d+ @@\n[^]*\n-One line\.\n\+Another line\./,
    )
    expect(page('/a/inner')).toMatchObject({
      markdown: expect.stringContaining('# Inner'),
      changeTracking: { changeStatus: 'same' },
    })
    expect(page('/dated').markdown).toContain('# Dated')
    expect(page('/fresh').changeTracking).toMatchObject({ changeStatus: 'new', previousScrapeAt: null })
  })

  test('can be compared with in turn, through pages that were kept', async () => {
    const first = await crawl()
    const second = await crawl({ since: first.id })
    expect(second.changes).toEqual({ new: [], changed: [], removed: [], unchanged: 6 })
    statuses = {}
    const third = await crawl({ since: second.id })
    expect(third.changes).toMatchObject({ unchanged: 6 })
    expect(Object.values(statuses)).toEqual(Array.from({ length: 6 }, () => 304))
    const withoutChange = ({ data }: CrawlAnswer) => data.map((page) => ({ ...page, changeTracking: undefined }))
    expect(withoutChange(third)).toEqual(withoutChange(first))
  })

  test('reports changes of images, numbers of lists and languages of code', async () => {
    const parts = (version: number) =>
      `<p>One line.</p><img src="/sales.png" alt="Sales: ${version}"><ol start="${version}"><li>Item</li></ol><pre><code class="language-${version === 1 ? 'sh' : 'bat'}">sort</code></pre>`
    pages['/plain'] = linkPage('Plain', [], parts(1))
    pages['/'] = linkPage('Home', ['/plain'])
    const { id } = await crawl()
    pages['/plain'] = linkPage('Plain', [], parts(2))
    const answer = await crawl({ since: id })
    const { diff } = answer.data.find(({ metadata }) => pathOf(metadata.sourceURL) === '/plain')!.changeTracking!
    for (const line of ['+![Sales: 2]', '+2. Item', '+```bat']) expect(diff!.text).toContain(line)
  })

  test('does not report pages beyond its limit as removed', async () => {
    const { id } = await crawl()
    const { changes, warning } = await crawl({ since: id, limit: 1 })
    expect(changes).toMatchObject({ removed: [], unchanged: 1 })
    expect(warning).toContain('5 pages of the earlier crawl were not compared: this one ended at its limit')
  })

  test.each([
    ['503', 503, ['/a']],
    ['403', 403, ['/a']],
    ['503 without an ETag', 503, ['/plain']],
  ])('follows the earlier links of a page that responds with %s', async (_name, status, [path]) => {
    pages['/'] = linkPage('Home', ['/a', '/plain'])
    pages['/plain'] = linkPage('Plain', ['/plain/inner'])
    pages['/plain/inner'] = linkPage('Plain inner')
    const first = await crawl()
    expect(first.completed).toBe(5)
    failing[path!] = status
    const second = await crawl({ since: first.id })
    expect(second.changes).toEqual({ new: [], changed: [], removed: [], unchanged: 4 })
    expect(second.warning).toContain(
      '1 page of the earlier crawl was not compared: unreadable, or linked from unreadable pages',
    )
    const stillFailing = await crawl({ since: second.id })
    expect(stillFailing.changes).toEqual(second.changes)
    failing = {}
    const third = await crawl({ since: stillFailing.id })
    expect(third.changes).toEqual({ new: [], changed: [], removed: [], unchanged: 5 })
    expect(third.warning).toBeUndefined()
  })

  test('compares a page that was read again with its last known version', async () => {
    const first = await crawl()
    failing['/a'] = 503
    const second = await crawl({ since: first.id })
    failing = {}
    pages['/a'] = linkPage('A', ['/a/inner'], '<p>Another line.</p>')
    const third = await crawl({ since: second.id })
    expect(third.changes!.changed.map(pathOf)).toEqual(['/a'])
    const page = third.data.find(({ metadata }) => pathOf(metadata.sourceURL) === '/a')!
    expect(page.changeTracking!.diff!.text).toContain('-One line.\n+Another line.')
  })

  test('follows the earlier links of pages that robots.txt does not allow any more', async () => {
    const { id } = await crawl()
    robots = 'user-agent: *\ndisallow: /a\nallow: /a/'
    const { changes, warning } = await crawl({ since: id })
    expect(changes).toMatchObject({ new: [], removed: [], unchanged: 5 })
    expect(warning).toContain('1 page of the earlier crawl was not compared')
  })

  test('reports removed pages below removed ones, also while another page cannot be read', async () => {
    pages['/a/inner'] = linkPage('Inner', ['/a/inner/deep'])
    pages['/a/inner/deep'] = linkPage('Deep')
    const first = await crawl()
    pages['/'] = linkPage('Home', ['/dated', '/gone', '/unlinked'])
    failing['/dated'] = 503
    const { changes } = await crawl({ since: first.id })
    expect(changes!.removed.map(pathOf)).toEqual(['/a', '/a/inner', '/a/inner/deep'])
  })

  test.skipIf(noFolder)(titled('names damaged pages of the earlier crawl, which count as new', noFolder), async () => {
    const { id } = await crawl()
    const file = join(homes.stateDir, 'crawls', id, 'pages.ndjson')
    const stored = await readFile(file, 'utf8')
    expect(stored).toContain('# Inner')
    await writeFile(file, stored.replace('# Inner', '# Jnner'))
    const { changes, warning } = await crawl({ since: id })
    expect(changes).toMatchObject({ new: [expect.stringContaining('/a/inner')], unchanged: 5 })
    expect(warning).toContain('1 page of the earlier crawl was damaged')
  })

  test.each<
    [string, { path?: string; [option: string]: unknown }, { unchanged: number; count: number; option: string }]
  >([
    ['a start page', { path: '/a' }, { unchanged: 2, count: 4, option: 'url' }],
    ['a depth', { max_depth: 0 }, { unchanged: 1, count: 5, option: 'max_depth' }],
    ['included paths', { include_paths: ['/dated'] }, { unchanged: 1, count: 4, option: 'include_paths' }],
    ['excluded paths', { exclude_paths: ['/a'] }, { unchanged: 4, count: 2, option: 'exclude_paths' }],
  ])(
    'does not report pages as removed that it does not reach because of %s',
    async (_name, { path, ...input }, expected) => {
      const { id } = await crawl()
      const { changes, warning } = await crawl({ ...input, since: id, ...(path && { url: site.url + path }) })
      expect(changes).toEqual({ new: [], changed: [], removed: [], unchanged: expected.unchanged })
      expect(warning).toContain(
        `${expected.count} pages of the earlier crawl were not compared: this one has another value of ${expected.option}`,
      )
    },
  )

  test('does not report pages as removed that are not in its allowed domains', async () => {
    pages['/'] = linkPage('Home', ['/a', `${site.url.replace('127.0.0.1', 'localhost')}/plain`])
    pages['/plain'] = linkPage('Plain')
    const { id } = await crawl({ allow_external_links: true })
    const { changes, warning } = await crawl({ allow_external_links: true, allowed_domains: ['127.0.0.1'], since: id })
    expect(changes).toEqual({ new: [], changed: [], removed: [], unchanged: 3 })
    expect(warning).toContain(
      '1 page of the earlier crawl was not compared: this one has another value of allowed_domains',
    )
  })

  test('does not report pages of sitemaps as removed while the sitemap cannot be read', async () => {
    robots = `sitemap: ${site.url}/sitemap.xml`
    pages['/sitemap.xml'] = `<urlset><url><loc>${site.url}/plain</loc></url></urlset>`
    pages['/plain'] = linkPage('Plain')
    const input = { sitemap: 'include' }
    const first = await crawl(input)
    expect(first.completed).toBe(7)
    failing['/sitemap.xml'] = 503
    const second = await crawl({ ...input, since: first.id })
    expect(second.changes).toMatchObject({ removed: [], unchanged: 6 })
    expect(second.warning).toContain('1 page of the earlier crawl was not compared')
    const third = await crawl({ since: first.id })
    expect(third.changes).toMatchObject({ removed: [] })
    expect(third.warning).toContain('another value of sitemap')
  })

  test('rejects crawls of other sites', async () => {
    const { id } = await crawl({ limit: 1 })
    const { port } = new URL(site.url)
    await expect(crawl({ since: id, url: `http://localhost:${port}/` })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `since: the crawl ${id} is of another site, ${site.url}`,
      details: [expect.objectContaining({ path: 'since' })],
    })
  })

  test('rejects other options, and unknown crawls', async () => {
    const { id } = await crawl({ limit: 1 })
    await expect(crawl({ since: id, formats: ['html'] })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('had another value of formats'),
    })
    await expect(crawl({ since: 'crl_unknown' })).rejects.toMatchObject({ code: 'crawl_not_found' })
  })
})

describe('the command line', () => {
  let folder: string
  let output: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-since-'))
    output = join(folder, 'docs')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const run = (...words: string[]) =>
    bax(['crawl', site.url, '--limit', '20', '--render', 'http', '--embedded', ...words], {
      env: { BAX_STATE_DIR: join(folder, 'state') },
    })
  const again = () => run('--since', output, '-o', output)
  const stored = () => readdir(join(folder, 'state', 'crawls'))
  /** Makes all stored crawls look this old. */
  async function age(days: number): Promise<void> {
    const then = new Date(Date.now() - days * 86_400_000)
    for (const id of await stored()) await utimes(join(folder, 'state', 'crawls', id, 'journal.ndjson'), then, then)
  }

  test('compares with the crawl that wrote a folder, and writes the diffs beside its pages', async () => {
    const first = await again()
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(`${output} contains no crawl yet`) })
    expect(existsSync(join(output, 'changes.diff'))).toBe(false)
    change()
    const second = await again()
    expect(second).toMatchObject({ code: 0 })
    expect(second.stderr).toContain('since the earlier crawl: 1 new, 2 changed, 2 removed, 2 unchanged')
    expect(second.stderr).toContain(`+ ${site.url}/fresh`)
    expect(second.stderr).toMatch(/^diffs: .*docs\/changes\.diff$/m)
    const diff = await readFile(join(output, 'changes.diff'), 'utf8')
    expect(diff).toContain(
      `new page: ${site.url}/fresh\nremoved page: ${site.url}/gone\nremoved page: ${site.url}/unlinked\n--- ${site.url}/\n`,
    )
    expect(diff).toMatch(
      new RegExp(`\n--- ${site.url}/a\n\\+\\+\\+ ${site.url}/a\n@@ .*\n[^]*\n-One line\\.\n\\+Another line\\.\n`),
    )
    expect((await readdir(output)).toSorted()).toEqual([
      new URL(site.url).host.replace(':', '-'),
      'changes.diff',
      'index.md',
      'manifest.json',
    ])
    expect(JSON.parse(await readFile(join(output, 'manifest.json'), 'utf8')).changes.changed).toHaveLength(2)
    expect(await again()).toMatchObject({ stderr: expect.stringContaining('0 new, 0 changed, 0 removed, 6 unchanged') })
    expect(await readFile(join(output, 'changes.diff'), 'utf8')).toBe('')
    expect(await run('-o', output)).toMatchObject({ code: 0 })
    expect(existsSync(join(output, 'changes.diff'))).toBe(false)
  })

  test('reports the changes on stderr without a folder and without a terminal', async () => {
    await again()
    change()
    const removed = [`- ${site.url}/gone`, `- ${site.url}/unlinked`]
    const lines = await run('--since', output, '--ndjson')
    expect(lines.stderr.split('\n')).toEqual(expect.arrayContaining(removed))
    const pages = lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(pages.find(({ url }) => pathOf(url) === '/a').changeTracking.diff.text).toContain('+Another line.')
    const text = await run('--since', output)
    expect(text.stderr.split('\n')).toEqual(expect.arrayContaining(removed))
    expect(text.stdout).toContain('# Fresh')
  })

  test('compares with the last completed crawl of a folder when a later one fails', async () => {
    await again()
    failing['/'] = 503
    expect((await again()).code).toBe(1)
    failing = {}
    change()
    const { code, stderr } = await again()
    expect(code).toBe(0)
    expect(stderr).toContain('1 new, 2 changed, 2 removed, 2 unchanged')
  })

  test('compares with a crawl of the previous week or month, and keeps only the latest one', async () => {
    await again()
    const [first] = await stored()
    await age(31)
    change()
    expect(await again()).toMatchObject({ code: 0, stderr: expect.stringContaining('1 new, 2 changed, 2 removed') })
    await age(8)
    expect(await again()).toMatchObject({ code: 0, stderr: expect.stringContaining('0 new, 0 changed, 0 removed') })
    const store = new CrawlStore(join(folder, 'state'))
    await store.sweep()
    expect(await stored()).toEqual([expect.not.stringMatching(first!)])
    await age(2)
    await rm(output, { recursive: true })
    await store.sweep()
    expect(await stored()).toEqual([])
  })

  test('crawls all pages, with a warning, when the crawl of a folder is no longer stored', async () => {
    await again()
    await rm(join(folder, 'state', 'crawls'), { recursive: true })
    const lost = await again()
    expect(lost).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        `warning: the latest crawl of ${output} is no longer stored: nothing is compared`,
      ),
    })
    expect(lost.stderr).not.toContain('since the earlier crawl')
    await rm(join(folder, 'state'), { recursive: true })
    const unknown = await again()
    expect(unknown).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`warning: no completed crawl of ${output} is stored`),
    })
    expect(await again()).toMatchObject({ code: 0, stderr: expect.stringContaining('6 unchanged') })
  })

  test('rejects folders and files that are no crawl, and unknown crawls', async () => {
    await again()
    const message = expect.stringContaining('no crawl of this machine has written')
    expect(await run('--since', folder)).toMatchObject({ code: 2, stderr: message })
    expect(await run('--since', join(output, 'index.md'))).toMatchObject({ code: 2, stderr: message })
    const id = 'crl_AAAAAAAAAAAAAAAAAAAA'
    expect(await run('--since', id)).toMatchObject({ code: 5, stderr: expect.stringContaining('there is no crawl') })
  })
})
