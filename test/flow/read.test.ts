/** `bax read`: the text of pages and files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax as run, type CliOptions } from '../support/cli.ts'
import { serveSite, type Site } from '../support/site.ts'
import { article, pdfOf, respondWith } from '../support/web.ts'

const filler = 'Rivers carry sand and silt from the mountains to the sea. '.repeat(40)
const manual = `# Manual\n\n${filler}\n\n## Install\n\nRun the program.\n\n### Linux\n\nUse a package.\n\n## Use\n\nRun it, and use a package again.\n`

let site: Site
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-read-'))
  site = await serveSite({
    '/article': article,
    '/manual': `<!doctype html><title>Manual</title><main><h1>Manual</h1><p>${filler}</p></main>`,
    '/manual.md': respondWith('text/plain', manual),
    '/llms.txt': respondWith('text/plain', '# Site\n\n- [Manual](/manual.md)\n'),
    '/who': ({ headers }, response) =>
      void response
        .setHeader('content-type', 'text/html')
        .end(`<title>Who</title><main><h1>Who</h1><p>${headers['x-team'] ?? 'none'} ${headers.cookie}</p></main>`),
    '/film': respondWith('video/mp4', 'x'),
  })
  await Promise.all([
    writeFile(join(folder, 'manual.md'), manual),
    writeFile(join(folder, 'page.html'), article),
    writeFile(join(folder, 'smile.md'), '😀😀\n'),
    writeFile(join(folder, 'latin.txt'), Buffer.from('Sein Name ist M\xFCller, und er wohnt in K\xF6ln.\n', 'latin1')),
    writeFile(join(folder, 'wide.md'), Buffer.from('\uFEFF# Schön\n', 'utf16le')),
    writeFile(join(folder, 'paper.pdf'), pdfOf(['Rivers of the world'])),
  ])
})
afterAll(async () => {
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

const bax = (argv: readonly string[], options: CliOptions = {}) =>
  run([...argv, '--state-dir', join(folder, 'state')], { cwd: folder, ...options })

describe('a page', () => {
  test('is printed as its Markdown where llms.txt lists it', async () => {
    expect(await bax(['read', `${site.url}/manual`])).toMatchObject({ code: 0, stdout: manual, stderr: '' })
    const { stdout } = await bax(['read', `${site.url}/manual`, '--json'])
    expect(JSON.parse(stdout)).toEqual({
      success: true,
      data: {
        markdown: manual,
        metadata: expect.objectContaining({ source_format: 'markdown', markdown_url: `${site.url}/manual.md` }),
      },
    })
  })

  test('is printed as its main content otherwise', async () => {
    const { code, stdout } = await bax(['read', `${site.url}/article`])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^# How deltas grow\n/) })
    expect(stdout).not.toContain('All rights reserved')
  })

  test('is read with the headers and cookies of the flags', async () => {
    await writeFile(join(folder, 'jar.txt'), 'Cookie: user=ben')
    const read = (...flags: string[]) => bax(['read', `${site.url}/who`, ...flags])
    expect((await read('-H', 'x-team: red', '--cookie', 'user=ann')).stdout).toContain('red user=ann')
    expect((await read('--cookies', 'jar.txt')).stdout).toContain('none user=ben')
  })

  test('that cannot be read fails as a scrape', async () => {
    expect(await bax(['read', `${site.url}/film`])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('content of type video/mp4 cannot be scraped'),
    })
  })
})

describe('a file', () => {
  test.each([
    ['manual.md', manual],
    ['./page.html', '# How deltas grow\n'],
    ['paper.pdf', 'Rivers of the world\n'],
  ])('%s is printed', async (name, start) => {
    const { code, stdout } = await bax(['read', name])
    expect({ code, start: stdout.slice(0, start.length) }).toEqual({ code: 0, start })
  })

  test('on standard input is printed', async () => {
    expect((await bax(['read', '-'], { stdin: article })).stdout).toMatch(/^# How deltas grow\n/)
  })

  test.each([
    ['latin.txt', 'Sein Name ist Müller, und er wohnt in Köln.\n'],
    ['wide.md', '# Schön\n'],
  ])('%s is decoded', async (name, stdout) => {
    expect(await bax(['read', name])).toMatchObject({ code: 0, stdout, stderr: '' })
  })

  test('is printed whole with --no-only-main-content', async () => {
    const { stdout } = await bax(['read', 'page.html', '--no-only-main-content'])
    expect(stdout).toContain('All rights reserved')
  })

  test.each([
    ['--render', 'browser'],
    ['--wait-for', '1'],
    ['--no-block-ads'],
    ['--header', 'x-team: red'],
    ['--cookie', 'a=b'],
    ['--cookies', 'page.html'],
    ['--proxy', 'http://127.0.0.1:1'],
    ['--session', 'shop'],
  ])('does not take %s, which is for pages', async (...flag: string[]) => {
    expect(await bax(['read', 'page.html', ...flag])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`${flag[0]} is for pages, and page.html is a file`),
    })
  })

  test('that is missing is an error', async () => {
    expect(await bax(['read', './missing.md'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot read ./missing.md: no such file'),
    })
  })
})

describe('a part', () => {
  test('--outline prints headings with sizes', async () => {
    const { stdout } = await bax(['read', 'manual.md', '--outline'])
    expect(stdout).toBe(`# Manual (${manual.length})\n## Install (57)\n### Linux (27)\n## Use (41)\n`)
    const { data } = JSON.parse((await bax(['read', 'manual.md', '--outline', '--json'])).stdout)
    expect(data.outline[2]).toEqual({ level: 3, title: 'Linux', offset: manual.indexOf('### Linux'), length: 27 })
  })

  test('--section prints a section with its subsections', async () => {
    expect((await bax(['read', 'manual.md', '--section', 'install'])).stdout).toBe(
      '## Install\n\nRun the program.\n\n### Linux\n\nUse a package.\n',
    )
    expect(await bax(['read', 'manual.md', '--section', 'Instal'])).toMatchObject({ code: 0 })
    expect(await bax(['read', 'manual.md', '--section', 'Linix'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/no section is named "Linix"[^]*the nearest section is "Linux"/),
    })
  })

  test('--find prints passages under their headings', async () => {
    expect((await bax(['read', 'manual.md', '--find', 'use package'])).stdout).toBe(
      '## Linux\nUse a package.\n\n## Use\nRun it, and use a package again.\n',
    )
    expect((await bax(['read', 'manual.md', '--find', 'linux'])).stdout).toBe('## Linux\n')
    expect(await bax(['read', 'manual.md', '--find', 'nowhere'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'no passage contains all words of "nowhere"\n',
    })
  })

  test('--max-chars and --offset read on', async () => {
    const first = await bax(['read', 'manual.md', '--max-chars', '100'])
    expect(first.stderr).toBe(`${manual.length - 100} more characters: continue with --offset 100\n`)
    const rest = await bax(['read', 'manual.md', '--offset', '100'])
    expect(rest).toMatchObject({ stdout: manual.slice(100), stderr: '' })
    expect((await bax(['read', 'manual.md', '--offset', '99999'])).stderr).toContain('end of the text')
    const smile = await bax(['read', 'smile.md', '--max-chars', '1'])
    expect(smile).toMatchObject({ stdout: '😀\n', stderr: '3 more characters: continue with --offset 2\n' })
  })
})
