/** The summary of a crawl: one HTML file for a reader who has nothing else. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { summaryPage } from '../../src/cli/crawl/summary/page.ts'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { bax as run } from '../support/cli.ts'
import { linkPage } from '../support/crawl.ts'
import { serveSite, type Site } from '../support/site.ts'
import { redirectTo } from '../support/web.ts'

const title =
  '&lt;/title&gt;&lt;script&gt;top.pwned = 1&lt;/script&gt;&lt;img src=x onerror=&quot;top.pwned = 2&quot;&gt;'
const links = [
  '/slow',
  '/gone',
  '/private/x',
  '/deep',
  '/skipped/1',
  '/skipped/2',
  `/hostile?"onmouseover="top.pwned=3"&'<b>`,
  '/with?token=secret-of-the-link',
  '/loop',
  'https://elsewhere.test/',
]

let site: Site
let browser: Browser
let folder: string
let page: Page
beforeAll(async () => {
  site = await serveSite({
    '/': linkPage(
      'Home',
      links.map((link) => link.replaceAll('"', '&quot;')),
    ),
    '/slow': linkPage('Slow'),
    '/deep': linkPage('Deep', ['/deeper']),
    '/hostile': linkPage(title),
    '/with': (request, response) => response.end(linkPage(`Cookie ${request.headers.cookie}`)),
    '/loop': redirectTo('/loop'),
    '/cut': (_, response) => response.destroy(),
    '/robots.txt': 'User-agent: *\nDisallow: /private/\n',
  })
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-report-'))
})
afterEach(async () => {
  await page?.close()
  await rm(folder, { recursive: true, force: true })
})

const bax = (...argv: string[]) => run([...argv, '--state-dir', join(folder, 'state')], { cwd: folder })
const crawl = (...flags: string[]) =>
  bax('crawl', `${site.url}/`, '--render', 'http', '--limit', '50', '--max-depth', '1', ...flags)

/** Opens a page from its file, and fails when it sends requests. */
async function open(name: string): Promise<void> {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const requests: string[] = []
  page.on('request', (request) => /^https?:/.test(request.url()) && requests.push(request.url()))
  await page.goto(pathToFileURL(join(folder, name)).href)
  await page.waitForSelector('body.scripted')
  expect(requests).toEqual([])
}

/** Returns the visible rows as text, without the origin of the site. */
const rows = async (): Promise<string[]> =>
  (await page.locator('#rows tbody tr:visible').allInnerTexts()).map((text) =>
    text.replaceAll(/\s+/g, ' ').replaceAll(site.url, '').trim(),
  )

describe('bax crawl --report', () => {
  test('shows pages, failures, and what was not visited with reasons, without secrets and foreign scripts', async () => {
    const flags = ['--report', 'out/crawl.html', '--exclude-paths', '/skipped/**', '--cookie', 'sid=value-of-a-cookie']
    expect(await crawl(...flags, '--ndjson')).toMatchObject({ code: 0, stderr: '' })
    await open('out/crawl.html')
    const all = await rows()
    expect(all).toEqual([
      expect.stringMatching(/^200 Home \/ 0 \+\S+ m?s$/),
      expect.stringMatching(/^200 Slow \/slow 1 \+\S+ m?s$/),
      expect.stringMatching(/^404 Not found \/gone 1 \+\S+ m?s/),
      expect.stringMatching(/^200 Deep \/deep 1 \+\S+ m?s$/),
      expect.stringMatching(/^200 <\/title><script>top\.pwned = 1<\/script>.*\/hostile\?\S+ 1 \+\S+ m?s$/),
      expect.stringMatching(/^200 Cookie sid=\*\*\* \/with\?token=\[redacted\] 1 \+\S+ m?s$/),
      expect.stringMatching(/^failed \/loop 1 \+\S+ m?s .*redirect.* \w+$/),
      expect.stringMatching(/^skipped \/skipped\/1 excluded by the paths of the crawl excluded$/),
      expect.stringMatching(/^skipped \/skipped\/2 excluded/),
      expect.stringMatching(/^skipped https:\/\/elsewhere\.test\/ on another host off_host$/),
      expect.stringMatching(/^skipped \/deeper deeper than --max-depth max_depth$/),
      expect.stringMatching(/^skipped \/private\/x disallowed by robots\.txt robots$/),
    ])
    expect(await page.locator('header').innerText()).toMatch(/completed.*6 pages · 1 error · 4 skipped · 1 blocked/s)
    expect(await page.locator('.counts').innerText()).toMatch(/2\s+excluded by the paths/)
    await page.hover('#rows tr:has-text("/hostile")')
    expect(await page.evaluate('top.pwned')).toBeUndefined()
    expect(await readFile(join(folder, 'out/crawl.html'), 'utf8')).not.toMatch(/secret-of-the-link|value-of-a-cookie/)
  })

  test('can be searched, filtered and sorted, also without a mouse', async () => {
    await crawl('--report', 'crawl.html', '-o', 'mirror')
    await open('crawl.html')
    await page.keyboard.press('/')
    await page.keyboard.type('DEEP')
    expect(await rows()).toEqual([expect.stringContaining('Deep /deep'), expect.stringContaining('/deeper')])
    expect(await page.locator('#found').innerText()).toMatch(/^2 of \d+ URLs$/)
    await page.selectOption('#kind', 'page')
    expect(await rows()).toHaveLength(1)
    await page.fill('#search', '')
    const depths = async () => (await page.locator('#rows tbody tr:visible .depth').allInnerTexts()).map(Number)
    await page.click('th button:has-text("Depth")')
    await page.click('th button:has-text("Depth")')
    expect((await depths()).at(-1)).toBe(0)
    await page.click('th button:has-text("Depth")')
    expect((await depths())[0]).toBe(0)
  })

  test('is also written for a crawl that failed, and for one that has ended', async () => {
    const failed = await bax('crawl', `${site.url}/cut`, '--render', 'http', '--report', 'failed.html')
    expect(failed.code).toBe(1)
    await open('failed.html')
    expect(await page.locator('header').innerText()).toMatch(/failed.*0 pages · 1 error/s)
    const { stdout } = await bax('crawl', `${site.url}/deep`, '--render', 'http', '--json')
    const { id } = JSON.parse(stdout) as { id: string }
    expect(await bax('crawl', '--resume', id, '--report', 'again.html', '--ndjson')).toMatchObject({ code: 0 })
    await page.close()
    await open('again.html')
    expect(await rows()).toEqual([expect.stringContaining('Deep /deep 0'), expect.stringContaining('/deeper 1')])
  })

  test.each([
    ['a folder', ['--report', '.'], /--report must name a file/],
    ['a crawl in the background', ['--report', 'a.html', '--async'], /--report and --async exclude each other/],
  ])('is refused for %s, before any request', async (_, flags, message) => {
    const before = site.requests.length
    expect(await crawl(...flags)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
    expect(site.requests.length).toBe(before)
  })
})

test('a summary of 10,000 pages stays small, shows a part at once, and can be searched', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => ({
    kind: 'page' as const,
    url: `https://example.com/docs/section-${at % 100}/page-${at}.html`,
    title: `Page ${at}`,
    depth: at % 7,
    status: 200,
    ts: new Date(at).toISOString(),
  }))
  const html = summaryPage({
    url: 'https://example.com/',
    id: 'crl_1',
    finished: undefined,
    startedAt: new Date(0).toISOString(),
    rows,
    accounts: { success: true, errors: [], skipped: [], skipped_total: 0, robots_blocked: [] },
    redact: (text) => text,
  })
  expect(html.length).toBeLessThan(5_000_000)
  page = await browser.newPage()
  await page.setContent(html)
  const shown = page.locator('#rows tbody tr:not([hidden])')
  expect(await shown.count()).toBe(500)
  await page.click('text=Show more (9500)')
  expect(await shown.count()).toBe(1000)
  await page.fill('#search', 'page-9999.')
  expect(await shown.count()).toBe(1)
})
