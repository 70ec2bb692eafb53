import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax as run, type CliOptions } from '../support/cli.ts'
import { type Site, serveSite } from '../support/site.ts'
import { redirectTo } from '../support/web.ts'

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`

let site: Site
let folder: string
beforeAll(async () => {
  site = await serveSite({
    '/': page(
      'Home',
      `<p>To the <a href="/docs/">manual</a>, the <a href="/old">old news</a>, a <a href="/list?page=2">list</a>, what is
      <a href="/gone">gone</a>, what is <a href="/private/x">private</a>, <a href="/Read">Read</a> and <a href="/read">read</a>,
      <a href="/..%2f..%2fescape">out of it</a> and <a href="https://elsewhere.test/">elsewhere</a>.</p>`,
    ),
    '/docs/': page(
      'Manual',
      '<p>The <a href="intro.html#start">introduction</a>, the <a href="deep/one">depths</a>.</p>',
    ),
    '/docs/intro.html': page('Introduction', '<p>Back to the <a href="./">manual</a> or <a href="/">home</a>.</p>'),
    '/docs/deep/one': page('Deep', '<p>Nothing is deeper.</p>'),
    '/old': redirectTo('/news'),
    '/news': page('News', '<p>All is well, says the <a href="/old">old news</a>.</p>'),
    '/list': page('List', '<p>A list of things that are found on page two.</p>'),
    '/Read': page('Read', '<p>In capitals.</p>'),
    '/read': page('read', '<p>In small letters.</p>'),
    '/..%2f..%2fescape': page('Escape', '<p>Is not possible.</p>'),
    '/private/x': page('Private', '<p>Keep out.</p>'),
    '/cut': (_, response) => response.destroy(),
    '/half': page('Half', '<p>There is a <a href="/cut">page that cannot be had</a>.</p>'),
    '/robots.txt': (_, response) =>
      response.end(`User-agent: *\nDisallow: /private/\nSitemap: ${site.url}/sitemap.xml\n`),
    '/sitemap.xml': (_, response) =>
      response
        .setHeader('content-type', 'application/xml')
        .end(`<urlset><url><loc>${site.url}/unlinked</loc></url></urlset>`),
    '/unlinked': page('Unlinked', '<p>Only the sitemap knows this page.</p>'),
  })
})
afterAll(() => site.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-crawl-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const bax = (argv: readonly string[], options: CliOptions = {}) =>
  run([...argv, '--state-dir', join(folder, 'state')], { cwd: folder, ...options })
const crawl = (...flags: string[]) => bax(['crawl', `${site.url}/`, '--render', 'http', '--limit', '50', ...flags])
const url = (path: string) => `${site.url}${path}`
const host = () => new URL(site.url).host.replace(':', '-')
const read = (path: string) => readFile(join(folder, path), 'utf8')
const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** All pages of the site, in crawl order. */
const visited = [
  '/',
  '/docs/',
  '/news',
  '/list?page=2',
  '/gone',
  '/Read',
  '/read',
  '/..%2f..%2fescape',
  '/docs/intro.html',
  '/docs/deep/one',
]

describe('bax crawl', () => {
  test('prints the pages as Markdown under their URLs', async () => {
    const { code, stdout, stderr } = await crawl()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect([...stdout.matchAll(/^<!-- (.*) -->$/gm)].map(([, address]) => address)).toEqual(visited.map(url))
    expect(stdout).toContain('# Manual\n\nThe [introduction](')
  })

  test('prints one page per line with --ndjson, in order', async () => {
    const { code, stdout, stderr } = await crawl('--ndjson', '--formats', 'markdown,links')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const pages = lines(stdout)
    expect(pages.map(({ metadata }) => metadata.url)).toEqual(visited.map(url))
    expect(pages[1]).toEqual({
      index: 1,
      depth: 1,
      url: url('/docs/'),
      markdown: expect.stringContaining('# Manual'),
      links: expect.any(Array),
      metadata: expect.objectContaining({ title: 'Manual', status_code: 200 }),
    })
    expect(pages[2]).toMatchObject({ url: url('/old'), metadata: { url: url('/news') } })
  })

  test('prints the response with --json, with every URL accounted for', async () => {
    const { code, stdout } = await crawl('--json')
    const answer = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(answer).toMatchObject({
      success: true,
      status: 'completed',
      total: visited.length,
      completed: visited.length,
      errors: [],
      robots_blocked: [url('/private/x')],
    })
    expect(answer.data.map(({ metadata }: { metadata: { url: string } }) => metadata.url)).toEqual(visited.map(url))
    expect(answer.skipped).toContainEqual({ url: 'https://elsewhere.test/', reason: 'off_host' })
    expect(answer.discovered).toBe(answer.total + answer.skipped_total + answer.robots_blocked.length)
  })

  test('--dry-run lists the pages that would be visited', async () => {
    const { code, stdout } = await crawl('--dry-run', '--exclude-paths', '/docs/deep/**')
    expect(code).toBe(0)
    expect(stdout.split('\n').filter(Boolean)).toEqual(
      expect.arrayContaining(['/', '/docs/', '/docs/intro.html', '/list?page=2'].map(url)),
    )
    expect(stdout).not.toContain('deep')
  })

  test('-o writes a mirror with links between its files', async () => {
    const { code, stdout, stderr } = await crawl('-o', 'out')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'out/index.md\n' })
    expect(stderr).toMatch(/^10 pages, \d+ skipped, 1 blocked by robots\.txt in \d+\.\d s\n$/)
    const home = await read(`out/${host()}/index.md`)
    for (const way of ['docs/index.md', 'news.md', 'list%40page%3D2.md', 'gone.md', '_escape.md'])
      expect(home).toContain(`](${way})`)
    expect(home).toContain(`[private](${url('/private/x')})`)
    expect(home).toContain('[elsewhere](https://elsewhere.test/)')
    expect(await read(`out/${host()}/docs/index.md`)).toContain('[introduction](intro.md#start)')
    expect(await read(`out/${host()}/docs/intro.md`)).toMatch(/\[manual\]\(index\.md\) or \[home\]\(\.\.\/index\.md\)/)
    expect(await read(`out/${host()}/news.md`)).toContain('[old news](news.md)')
    const manifest = JSON.parse(await read('out/manifest.json'))
    expect(manifest).toMatchObject({
      url: url('/'),
      status: 'completed',
      total: 10,
      completed: 10,
      robots_blocked: [url('/private/x')],
    })
    expect(manifest.pages.map((one: { url: string }) => one.url)).toEqual(visited.map(url))
    expect(manifest.pages[4]).toMatchObject({ title: 'Not found', status: 404, depth: 1 })
    for (const { file } of manifest.pages) expect(existsSync(join(folder, 'out', file)), file).toBe(true)
    expect(await readdir(folder)).toEqual(['out', 'state'])
    expect(await read('out/index.md')).toContain(`- [Introduction](${host()}/docs/intro.md)`)
  })

  test('writes the same files whatever the concurrency, and other formats next to them', async () => {
    const formats = ['--formats', 'markdown,html,links']
    await crawl('-o', 'one', '--concurrency', '1', ...formats)
    await crawl('-o', 'two', '--concurrency', '8', ...formats)
    await crawl('-o', 'two', ...formats)
    const tree = async (name: string) => {
      const files = await readdir(join(folder, name), { recursive: true, withFileTypes: true })
      const paths = files
        .filter((file) => file.isFile())
        .map((file) => join(file.parentPath, file.name))
        .toSorted()
      return Promise.all(
        paths.map(async (path) => [path.slice(join(folder, name).length), await readFile(path, 'utf8')]),
      )
    }
    const one = await tree('one')
    expect(one).toHaveLength(2 + 3 * visited.length)
    expect(await tree('two')).toEqual(one)
    expect(await read(`one/${host()}/docs/intro.html`)).toContain('<a href="../index.html">home</a>')
  })

  test('rejects a folder with other content before any request', async () => {
    await writeFile(join(folder, 'notes.txt'), 'mine')
    const before = site.requests.length
    expect(await crawl('-o', '.')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not empty.*\nhint: choose another folder/),
    })
    await crawl('-o', 'out', '--limit', '1')
    const other = await bax(['crawl', url('/docs/'), '-o', 'out'])
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining(`contains a crawl of ${url('/')}`) })
    expect(site.requests.slice(before).filter((path) => path !== '/robots.txt' && path !== '/')).toEqual([])
  })

  test('names the flag that raises the limit', async () => {
    const { stderr } = await crawl('-o', 'out', '--limit', '2')
    expect(stderr).toContain('hint: raise --limit to crawl more than 2 pages')
    expect((await crawl('-o', 'out', '--max-depth', '1')).stderr).toContain('raise --max-depth to crawl deeper pages')
  })

  test('a failed page is reported, and sets the exit code with --fail-on-errors', async () => {
    const broken = (...flags: string[]) => bax(['crawl', url('/half'), '--render', 'http', ...flags])
    // Mostly waiting for further attempts.
    const [piped, result, failed, printed] = await Promise.all([
      broken(),
      broken('-o', 'out'),
      broken('-o', 'other', '--fail-on-error'),
      broken('--ndjson'),
    ])
    expect(result).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^error: .*\/cut: .* \[connection_failed\]$/m),
    })
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringContaining('# Half') })
    expect(piped.stderr).toMatch(/^error: .*\/cut: .* \[connection_failed\]\n$/)
    expect(await read('out/index.md')).toMatch(/## Errors\n\n- <.*\/cut>: /)
    expect(failed).toMatchObject({ code: 1 })
    const [, error] = lines(printed.stdout)
    expect(error).toMatchObject({ url: url('/cut'), code: 'connection_failed', depth: 1, error: expect.any(String) })
  })

  test('a crawl without pages says so, on standard error', async () => {
    const { code, stdout, stderr } = await crawl('--include-paths', '/nowhere/**')
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^0 pages, \d+ skipped in \d+\.\d s\n$/)
  })

  test('a start page that cannot be loaded is a failure, and leaves the earlier mirror alone', async () => {
    // Its port stays in use, or another program could listen there.
    let isUp = true
    const up = page('Up', '<p>For now.</p>')
    const down = await serveSite({
      '/': (_, response) => (isUp ? response.setHeader('content-type', 'text/html').end(up) : response.destroy()),
    })
    const again = () => bax(['crawl', `${down.url}/`, '--render', 'http', '-o', 'out'])
    expect(await again()).toMatchObject({ code: 0 })
    const manifest = await read('out/manifest.json')
    isUp = false
    const { code, stdout, stderr } = await again()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: http:.*\[connection_failed\]$/m)
    expect(await read('out/manifest.json')).toBe(manifest)
    await down.close()
  })

  test.each([
    ['no address', [], 2, /<url> is missing/],
    ['an address that may not be opened', ['file:///etc/passwd'], 4, /URL blocked/],
    ['an address that is none', ['http://'], 2, /not a URL/],
    ['a limit of nothing', ['/', '--limit', '0'], 2, /limit/],
    ['a glob that is none', ['/', '--max-depth', '-1'], 2, /max_depth|max-depth/],
    ['a folder that is standard output', ['/', '-o', '-'], 2, /--output must be a folder/],
    ['a dry run into a folder', ['/', '--dry-run', '-o', 'out'], 2, /--dry-run and --output exclude each other/],
    [
      'options for a crawl that has started',
      ['--resume', 'crl_x', '--max-depth', '3'],
      2,
      /--max-depth cannot be combined with --resume/,
    ],
    [
      'cookies for a crawl that has started',
      ['--resume', 'crl_x', '--cookies', 'jar.txt'],
      2,
      /--cookies cannot be combined with --resume/,
    ],
    ['an address for a crawl that was begun', ['/', '--status', 'crl_x'], 2, /--status takes no <url>/],
    ['two things at once', ['--status', 'crl_x', '--cancel', 'crl_x'], 2, /exclude each other/],
    ['an unknown crawl', ['--status', 'crl_x'], 5, /there is no crawl "crl_x"/],
    ['resuming an unknown crawl', ['--resume', 'crl_x', '-o', 'out'], 5, /there is no crawl "crl_x"/],
    [
      'a crawl in the background of this command',
      ['/', '--async', '--embedded'],
      2,
      /--async and --embedded exclude each other/,
    ],
    ['an unknown flag', ['/', '--depth', '2'], 2, /unknown flag --depth/],
  ])('%s is rejected with a message', async (_, words, code, message) => {
    const result = await bax(['crawl', ...words.map((word) => (word === '/' ? url(word) : word))])
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
    expect(existsSync(join(folder, 'out'))).toBe(false)
  })

  test('shows progress on a terminal but not in a pipe', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const slow = await serveSite({
      '/': page('Home', '<p>Go to the <a href="/slow">slow page</a>.</p>'),
      '/slow': (_, response) => void gate.then(() => response.end(page('Slow', '<p>At last.</p>'))),
    })
    const argv = ['crawl', `${slow.url}/`, '--render', 'http', '-o', 'out']
    const shown: string[] = []
    const onError = (text: string) => {
      shown.push(text)
      if (/1 page, \d+\.\d\/s, 1 waiting, http:\S+\/slow/.test(shown.join(''))) open()
    }
    const { code, stdout } = await bax(argv, { tty: true, columns: 100, onError })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'out/index.md\n' })
    expect(shown.join('')).toMatch(/2 pages in \d+\.\d s\n/)
    expect((await bax(argv)).stderr).toMatch(/^2 pages in \d+\.\d s\n$/)
    await slow.close()
  })
})

describe('bax map', () => {
  test('prints the URLs of links and sitemaps, one per line, and scrapes nothing', async () => {
    const { code, stdout, stderr } = await bax(['map', url('/')])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const found = stdout.trim().split('\n')
    expect(found).toEqual(
      expect.arrayContaining(['/', '/docs/', '/docs/intro.html', '/unlinked', '/list?page=2'].map(url)),
    )
    expect(found).not.toContain('https://elsewhere.test/')
  })

  test('--search, --limit and --sitemap filter them', async () => {
    const only = await bax(['map', url('/'), '--sitemap', 'only'])
    expect(only.stdout).toContain(`${url('/unlinked')}\n`)
    expect(only.stdout).not.toContain('/docs/')
    expect((await bax(['map', url('/'), '--sitemap', 'skip'])).stdout).not.toContain('/unlinked')
    const docs = (await bax(['map', url('/'), '--search', 'docs'])).stdout.trim().split('\n')
    expect(docs).toEqual(['/docs/', '/docs/intro.html', '/docs/deep/one'].map(url))
    expect((await bax(['map', url('/'), '--limit', '2'])).stdout.trim().split('\n')).toHaveLength(2)
  })

  test('prints the response with --json', async () => {
    const { stdout } = await bax(['map', url('/'), '--limit', '3', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      total: 3,
      links: [url('/'), expect.any(String), expect.any(String)],
    })
  })

  test('a site that cannot be loaded is a failure', async () => {
    expect(await bax(['map', 'file:///etc'])).toMatchObject({ code: 4, stdout: '' })
    expect(await bax(['map'])).toMatchObject({ code: 2, stderr: expect.stringContaining('<url> is missing') })
  })
})
