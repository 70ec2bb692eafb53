import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax as run, type CliOptions } from '../support/cli.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, respondWith } from '../support/web.ts'

let site: Site
let folder: string

beforeAll(async () => {
  site = await serveSite({
    '/deltas': article,
    '/one': '<!doctype html><title>One</title><main><h1>One</h1><p>The first of two pages.</p></main>',
    '/two.html': '<!doctype html><title>Two</title><main><h1>Two</h1><p>The second of two pages.</p></main>',
    '/missing': respondWith('text/html', '<h1>Nothing here</h1>', {}, 404),
    '/escapes':
      '<!doctype html><title>Screen</title><main><p>Clear\u001B[2Jed, \u001B]52;c;ZXZpbA==\u0007 and set.</p></main>',
    '/film': respondWith('video/mp4', 'x'),
  })
})
afterAll(() => site.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-scrape-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const bax = (argv: readonly string[], options: CliOptions = {}) =>
  run([...argv, '--state-dir', join(folder, 'state')], { cwd: folder, ...options })
const url = (path: string) => `${site.url}${path}`

describe('bax scrape', () => {
  test('prints the Markdown of one page, and nothing else', async () => {
    expect(await bax(['scrape', url('/one')])).toMatchObject({
      code: 0,
      stdout: '# One\n\nThe first of two pages.\n',
      stderr: '',
    })
  })

  test('prints a single format as text, and several as one JSON value', async () => {
    expect((await bax(['scrape', url('/one'), '--formats', 'rawHtml'])).stdout).toContain('<!doctype html><title>One')
    expect(JSON.parse((await bax(['scrape', url('/deltas'), '--formats', 'links'])).stdout)).toHaveLength(4)
    const { stdout } = await bax(['scrape', url('/one'), '--formats', 'markdown,links'])
    expect(JSON.parse(stdout)).toEqual({ markdown: '# One\n\nThe first of two pages.\n', links: [] })
  })

  test('prints the response of the API with --json', async () => {
    const answer = JSON.parse((await bax(['scrape', url('/one'), '--json'])).stdout)
    expect(answer).toMatchObject({ success: true, data: { markdown: expect.any(String), metadata: { title: 'One' } } })
  })

  test('shows control characters of pages instead of sending them to a terminal', async () => {
    const page = [url('/escapes'), '--no-only-main-content']
    const shown = 'Clear␛[2Jed, ␛]52;c;ZXZpbA==␇ and set.\n'
    expect(await bax(['scrape', ...page], { tty: true })).toMatchObject({ code: 0, stdout: shown })
    expect((await bax(['read', ...page], { tty: true })).stdout).toBe(shown)
    expect((await bax(['scrape', ...page])).stdout).toContain('\u001B[2J')
  })

  test('prints several pages in order, each below its URL', async () => {
    const { code, stdout } = await bax(['scrape', url('/two.html'), url('/one')])
    expect(code).toBe(0)
    expect(stdout).toBe(
      `<!-- ${url('/two.html')} -->\n\n# Two\n\nThe second of two pages.\n\n<!-- ${url('/one')} -->\n\n# One\n\nThe first of two pages.\n`,
    )
  })

  test('prints one answer per line with --ndjson', async () => {
    const { code, stdout, stderr } = await bax(['scrape', url('/one'), url('/film'), url('/two.html'), '--ndjson'])
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ success }) => success)).toEqual([true, false, true])
    expect(answers[1]).toMatchObject({
      code: 'unsupported_content_type',
      data: { metadata: { sourceURL: url('/film') } },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('/film')
  })

  test('reads URLs from a file and from standard input', async () => {
    await writeFile(join(folder, 'pages.txt'), `# two pages\n${url('/one')}\n\n  ${url('/two.html')}  \n`)
    const file = await bax(['scrape', '--file', 'pages.txt'])
    const input = await bax(['scrape', '-'], { stdin: `${url('/one')}\n${url('/two.html')}\n` })
    expect(file.stdout).toContain('# One')
    expect(file.stdout).toContain('# Two')
    expect(input.stdout).toBe(file.stdout)
  })

  test('writes one page to a file, several to a folder', async () => {
    await bax(['scrape', url('/one'), '-o', 'page.md'])
    expect(await readFile(join(folder, 'page.md'), 'utf8')).toBe('# One\n\nThe first of two pages.\n')
    const { code } = await bax(['scrape', url('/one'), url('/two.html'), '-o', 'out'])
    expect(code).toBe(0)
    const host = new URL(site.url).host.replace(':', '-')
    expect((await readdir(join(folder, 'out'))).toSorted()).toEqual([`${host}-one.md`, `${host}-two.md`])
    await bax(['scrape', url('/one'), '--formats', 'markdown,html,links', '-o', 'many/'])
    expect((await readdir(join(folder, 'many'))).toSorted()).toEqual([
      `${host}-one.html`,
      `${host}-one.links.json`,
      `${host}-one.md`,
    ])
  })

  test('continues after a failed page, which determines the exit code', async () => {
    const result = await bax(['scrape', url('/one'), 'http://', 'file:///etc/passwd', url('/film'), url('/two.html')])
    expect(result.code).toBe(1)
    expect(result.stdout).toContain('# One')
    expect(result.stdout).toContain('# Two')
    expect(result.stderr.match(/^error: /gm)).toHaveLength(3)
  })

  test.each([
    ['a page that cannot be scraped', ['/film'], 1, /cannot be scraped/],
    ['an invalid URL', ['http://'], 2, /not a URL/],
    ['a blocked URL', ['file:///etc/passwd'], 4, /URL blocked/],
    ['a missing URL', [], 2, /<url> is missing/],
    ['an unknown format', ['/one', '--formats', 'pdf'], 2, /formats\[0\]/],
    ['an unknown flag', ['/one', '--format', 'html'], 2, /did you mean --formats/],
    ['a timeout that is too short', ['/one', '--timeout', '0.5'], 2, /timeout/],
  ])('%s', async (_, words, code, message) => {
    const result = await bax(['scrape', ...words.map((word) => (word.startsWith('/') ? url(word) : word))])
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
  })

  test('treats an error status as a warning, or as a failure with --fail-on-status', async () => {
    expect(await bax(['scrape', url('/missing')])).toMatchObject({
      code: 0,
      stdout: '# Nothing here\n',
      stderr: expect.stringContaining('404'),
    })
    expect(await bax(['scrape', url('/missing'), '--fail-on-status'])).toMatchObject({
      code: 1,
      stdout: '# Nothing here\n',
      stderr: expect.stringContaining('404'),
    })
  })

  test('writes a screenshot to a file, and to standard output if requested', async () => {
    for (const tty of [false, true]) {
      const shown = await bax(['scrape', url('/one'), '--formats', 'screenshot'], { tty })
      expect(shown.stdout).toMatch(/^\S+\.png\n$/)
      expect((await readFile(join(folder, shown.stdout.trim()))).subarray(1, 4).toString()).toBe('PNG')
    }
    const piped = await bax(['scrape', url('/one'), '--formats', 'screenshot', '-o', '-'])
    expect(piped.bytes.subarray(1, 4).toString()).toBe('PNG')
    await bax(['scrape', url('/one'), '--formats', 'screenshot', '-o', 'shot.png'])
    expect(existsSync(join(folder, 'shot.png'))).toBe(true)
  })

  test('--prompt and --schema request the json format', async () => {
    await writeFile(
      join(folder, 'schema.json'),
      JSON.stringify({ type: 'object', properties: { title: { type: 'string' } } }),
    )
    const { stdout } = await bax(['scrape', url('/deltas'), '--schema', '@schema.json', '--prompt', 'the title'])
    expect(JSON.parse(stdout)).toEqual({ title: 'How deltas grow' })
  })
})

describe('bax extract', () => {
  test('converts standard input to Markdown', async () => {
    const { code, stdout } = await bax(['extract', '--url', 'https://x.test/a/'], {
      stdin: '<main><h1>T</h1><p>A <a href="b">link</a> in a sentence.</p></main>',
    })
    expect(code).toBe(0)
    expect(stdout).toContain('A [link](https://x.test/a/b) in a sentence.\n')
  })

  test('uses the canonical URL of a page', async () => {
    const { stdout } = await bax(['extract'], {
      stdin: '<link rel="canonical" href="https://x.test/a/"><p>A <a href="b">link</a> here.</p>',
    })
    expect(stdout).toContain('(https://x.test/a/b)')
  })

  test('converts many files, and reports unreadable ones', async () => {
    await writeFile(join(folder, 'a.html'), '<p>Page a is here.</p>')
    await writeFile(join(folder, 'b.htm'), '<p>Page b is here.</p>')
    const all = await bax(['extract', 'a.html', 'gone.html', 'b.htm', '-o', 'out/'])
    expect(all).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('gone.html: cannot read the file: no such file or folder'),
    })
    expect(await readFile(join(folder, 'out/b.md'), 'utf8')).toBe('Page b is here.\n')
    const lines = await bax(['extract', folder, '--ndjson'])
    expect(
      lines.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).markdown),
    ).toEqual(['Page a is here.\n', 'Page b is here.\n'])
  })

  test('keeps the whole page on request', async () => {
    const stdin = `<nav>${'<a href="/x">Menu of the site</a> '.repeat(12)}</nav><main><h1>Page</h1>${'<p>Text of the page that goes on for a while, with commas, so that it is prose.</p>'.repeat(8)}</main><footer>All rights reserved</footer>`
    expect((await bax(['extract'], { stdin })).stdout).not.toContain('Menu')
    expect((await bax(['extract', '--no-only-main-content'], { stdin })).stdout).toContain('Menu')
  })

  test('converts a folder with its list of URLs to one JSON file', async () => {
    await writeFile(join(folder, 'k1.html'), '<p>See <a href="next">the next</a> one.</p>')
    await writeFile(join(folder, 'urls.json'), JSON.stringify({ k1: 'https://x.test/', k2: 'https://x.test/' }))
    const { code } = await bax(['extract', folder, join(folder, 'out.json')])
    const out = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'))
    expect(out.k1).toMatchObject({ markdown: 'See [the next](https://x.test/next) one.\n', ms: expect.any(Number) })
    expect(out.k2.error).toContain('no such file or folder')
    expect(code).toBe(1)
  })

  test('decodes bytes with their declared encoding', async () => {
    await writeFile(join(folder, 'l.html'), Buffer.from('<meta charset="iso-8859-1"><p>Grüße</p>', 'latin1'))
    expect((await bax(['extract', 'l.html'])).stdout).toBe('Grüße\n')
  })
})
