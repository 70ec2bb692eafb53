import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CrawledPage, Mirror } from '../../../../src/cli/crawl/mirror/mirror.ts'
import type { Outcome } from '../../../../src/cli/crawl/mirror/manifest-file.ts'

let folder: string
let out: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-mirror-'))
  out = join(folder, 'out')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const start = 'https://x.test/'
const crawl = { url: start, id: 'crl_1', resume: 'bax crawl --resume crl_1' }

/** Returns a page as in the stream of a crawl. */
function page(index: number, address: string, content: Partial<CrawledPage['page']> = {}): CrawledPage {
  const { metadata, ...formats } = { markdown: `# Page ${index}\n`, ...content }
  const facts = { title: `Page ${index}`, sourceURL: address, url: address, status_code: 200, ...metadata }
  return { index, depth: index === 0 ? 0 : 1, url: address, page: { ...formats, metadata: facts } }
}

const outcome = (facts: Partial<Outcome> = {}): Outcome => ({
  url: start,
  status: 'completed',
  success: true,
  errors: [],
  skipped: [],
  skipped_total: 0,
  robots_blocked: [],
  ...facts,
})

async function mirrored(pages: readonly CrawledPage[], facts: Partial<Outcome> = {}): Promise<void> {
  const mirror = await Mirror.open(out)
  await mirror.begin(crawl)
  for (const one of pages) await mirror.take(one)
  await mirror.finish(outcome(facts), () => {})
}

const read = (path: string) => readFile(join(out, path), 'utf8')
const manifest = async () => JSON.parse(await read('manifest.json'))
const tree = async () =>
  (await readdir(out, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
    .toSorted()

describe('a mirror', () => {
  test('has one file per page in the folders of the site, contents and a manifest', async () => {
    await mirrored(
      [
        page(0, start, { markdown: 'See [a](https://x.test/docs/a.html#p), [b](https://x.test/b) and [c](/gone).\n' }),
        page(1, 'https://x.test/docs/a.html', { markdown: 'Back to [start](https://x.test/).\n' }),
      ],
      {
        errors: [{ url: 'https://x.test/b', error: 'it [hung] up', code: 'connection_failed', depth: 1 }],
        skipped_total: 3,
        skipped: [{ url: 'https://y.test/', reason: 'off_host' }],
        robots_blocked: ['https://x.test/c'],
      },
    )
    expect(await tree()).toEqual(['index.md', 'manifest.json', 'x.test/docs/a.md', 'x.test/index.md'])
    expect(await read('x.test/index.md')).toBe(
      'See [a](docs/a.md#p), [b](https://x.test/b) and [c](https://x.test/gone).\n',
    )
    expect(await read('x.test/docs/a.md')).toBe('Back to [start](../index.md).\n')
    expect(await read('index.md')).toBe(
      '# Page 0\n\n2 pages of <https://x.test/>, 1 error\n\n- [Page 0](x.test/index.md)\n- docs/\n  - [Page 1](x.test/docs/a.md)\n\n## Errors\n\n- <https://x.test/b>: it \\[hung\\] up\n',
    )
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(await manifest()).toEqual({
      format: 'bax-crawl/1',
      url: start,
      status: 'completed',
      success: true,
      total: 3,
      completed: 2,
      pages: [
        {
          url: start,
          file: 'x.test/index.md',
          title: 'Page 0',
          status: 200,
          depth: 0,
          sha256: sha256(await read('x.test/index.md')),
        },
        {
          url: 'https://x.test/docs/a.html',
          file: 'x.test/docs/a.md',
          title: 'Page 1',
          status: 200,
          depth: 1,
          sha256: sha256(await read('x.test/docs/a.md')),
        },
      ],
      errors: [{ url: 'https://x.test/b', error: 'it [hung] up', code: 'connection_failed', depth: 1 }],
      skipped: [{ url: 'https://y.test/', reason: 'off_host' }],
      skipped_total: 3,
      robots_blocked: ['https://x.test/c'],
    })
  })

  test('rewrites links to redirected URLs', async () => {
    const redirects = [{ url: 'https://x.test/older', status: 301 }]
    await mirrored([
      page(0, start, { markdown: '[a](https://x.test/old) [b](https://x.test/older)\n' }),
      page(1, 'https://x.test/old', {
        metadata: { sourceURL: 'https://x.test/old', url: 'https://x.test/new', redirects },
      }),
    ])
    expect(await read('x.test/index.md')).toBe('[a](new.md) [b](new.md)\n')
  })

  test('writes other formats, and rewrites links in HTML to HTML files', async () => {
    await mirrored([
      page(0, start, {
        html: '<a href="https://x.test/a">a</a>',
        links: [{ href: 'https://x.test/a', text: 'a' }],
        json: { a: 1 },
        screenshot: Buffer.from('PNG').toString('base64'),
        rawHtml: '<a href="a">',
      }),
      page(1, 'https://x.test/a'),
    ])
    expect(await tree()).toEqual([
      'index.md',
      'manifest.json',
      'x.test/a.md',
      'x.test/index.html',
      'x.test/index.json',
      'x.test/index.links.json',
      'x.test/index.md',
      'x.test/index.png',
      'x.test/index.raw.html',
    ])
    expect(await read('x.test/index.html')).toBe('<a href="a.html">a</a>')
    expect(await read('x.test/index.raw.html')).toBe('<a href="a">')
    expect((await manifest()).pages[0].files.map(({ format }: { format: string }) => format)).toEqual([
      'html',
      'links',
      'json',
      'screenshot',
      'rawHtml',
    ])
  })

  test('does not depend on the order of pages that differ in case only', async () => {
    const pages = [page(0, start), page(1, 'https://x.test/Read'), page(2, 'https://x.test/read')]
    await mirrored(pages)
    const first = await Promise.all((await tree()).map(async (path) => [path, await read(path)]))
    await rm(out, { recursive: true })
    await mirrored(pages.toReversed())
    expect(await Promise.all((await tree()).map(async (path) => [path, await read(path)]))).toEqual(first)
    expect(new Set((await tree()).map((path) => path.toLowerCase())).size).toBe(5)
  })

  test('replaces a page that arrives again', async () => {
    const again = page(1, 'https://x.test/moved', { markdown: 'New\n' })
    await mirrored([page(0, start), page(1, 'https://x.test/a'), { ...again, replaces: true }])
    expect(await tree()).toEqual(['index.md', 'manifest.json', 'x.test/index.md', 'x.test/moved.md'])
    expect(await read('x.test/moved.md')).toBe('New\n')
  })

  test('replaces an earlier crawl of the same site, and keeps other files', async () => {
    await mirrored([page(0, start), page(1, 'https://x.test/deep/gone')])
    await writeFile(join(out, 'notes.txt'), 'mine')
    await mirrored([page(0, start), page(1, 'https://x.test/new')])
    expect(await tree()).toEqual(['index.md', 'manifest.json', 'notes.txt', 'x.test/index.md', 'x.test/new.md'])
    expect(await readdir(join(out, 'x.test'))).toEqual(['index.md', 'new.md'])
  })

  test('removes the files of an interrupted crawl', async () => {
    const mirror = await Mirror.open(out)
    await mirror.begin(crawl)
    await mirror.take(page(0, start))
    await mirror.take(page(1, 'https://x.test/gone'))
    await mirror.close()
    await writeFile(join(out, '.bax-crawl.tmp'), 'half a page')
    expect((await Mirror.open(out)).unfinished).toBe('crl_1')
    await mirrored([page(0, start)])
    expect(await readdir(out)).toEqual(['index.md', 'manifest.json', 'x.test'])
    expect(await readdir(join(out, 'x.test'))).toEqual(['index.md'])
    expect((await Mirror.open(out)).unfinished).toBeUndefined()
  })

  test('lists a page without any of the requested formats', async () => {
    await mirrored([
      page(0, start),
      { ...page(1, 'https://x.test/a'), page: { metadata: { sourceURL: 'https://x.test/a', title: 'A\u001b[2J\n' } } },
    ])
    expect((await manifest()).pages[1]).toEqual({
      url: 'https://x.test/a',
      file: null,
      title: 'A\u001b[2J\n',
      status: null,
      depth: 1,
      sha256: null,
    })
    expect(await read('index.md')).not.toContain('x.test/a')
  })

  test('escapes titles in the contents', async () => {
    await mirrored([page(0, start, { metadata: { sourceURL: start, url: start, title: 'A\u001b[2J](x)\n# B <b>' } })])
    expect(await read('index.md')).toContain('- [A \\[2J\\](x) \\# B \\<b\\>](x.test/index.md)\n')
  })

  test('names the crawl to resume if it is incomplete', async () => {
    await mirrored([page(0, start)], { status: 'cancelled', id: 'crl_1' })
    expect(await manifest()).toMatchObject({ status: 'cancelled', id: 'crl_1', completed: 1 })
  })
})

describe('a folder', () => {
  test('is rejected if it contains something else', async () => {
    await mkdir(out)
    await writeFile(join(out, 'manifest.json'), '{"name": "an extension"}')
    await expect(Mirror.open(out)).rejects.toMatchObject({ code: 'not_empty', message: expect.stringContaining(out) })
  })

  test('is rejected if it is a file', async () => {
    await writeFile(out, '')
    await expect(Mirror.open(out)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('not a folder'),
    })
  })

  test('is rejected if it contains the crawl of another site', async () => {
    await mirrored([page(0, start)])
    const mirror = await Mirror.open(out)
    expect(() => mirror.checkStart('https://y.test/')).toThrow(/contains a crawl of https:\/\/x\.test\//)
    expect(() => mirror.checkStart(start)).not.toThrow()
  })

  test('is never left through symbolic links or a manifest', async () => {
    const elsewhere = join(folder, 'elsewhere')
    await mkdir(elsewhere)
    await writeFile(join(elsewhere, 'kept'), 'kept')
    await mirrored([page(0, start)])
    await rm(join(out, 'x.test'), { recursive: true })
    await symlink(elsewhere, join(out, 'x.test'))
    const mirror = await Mirror.open(out)
    await mirror.begin(crawl)
    for (const address of [start, 'https://x.test/new/page'])
      await expect(mirror.take(page(0, address))).rejects.toMatchObject({ code: 'invalid_request' })
    await mirror.close()
    await rm(join(out, 'x.test'))

    const forged = { ...(await manifest()), pages: [{ file: '../elsewhere/kept' }, { file: join(elsewhere, 'kept') }] }
    await writeFile(join(out, 'manifest.json'), JSON.stringify(forged))
    await mirrored([page(0, start)])
    expect(await readFile(join(elsewhere, 'kept'), 'utf8')).toBe('kept')
    expect(await readdir(elsewhere)).toEqual(['kept'])
  })

  test('does not append its journal to the target of a symbolic link', async () => {
    const target = join(folder, 'target')
    await writeFile(target, 'kept')
    await mirrored([page(0, start)])
    await symlink(target, join(out, '.bax-crawl'))
    const mirror = await Mirror.open(out)
    const message = `cannot write ${join(out, '.bax-crawl')}: a symbolic link is not followed`
    await expect(mirror.begin(crawl)).rejects.toMatchObject({ code: 'invalid_request', message })
    expect(await readFile(target, 'utf8')).toBe('kept')
  })

  test('replaces a symbolic link instead of writing through it', async () => {
    const target = join(folder, 'target')
    await writeFile(target, 'kept')
    await mirrored([page(0, start)])
    await rm(join(out, 'x.test/index.md'))
    await symlink(target, join(out, 'x.test/index.md'))
    await mirrored([page(0, start)])
    expect(await readFile(target, 'utf8')).toBe('kept')
    expect(await read('x.test/index.md')).toBe('# Page 0\n')
  })
})
