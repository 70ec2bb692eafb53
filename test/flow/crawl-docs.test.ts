/** Crawls a real manual of some hundred pages: Debian's python3-doc, served on loopback. */
import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { destinationsIn } from '../../src/cli/crawl/destinations.ts'
import { bax } from '../support/cli.ts'
import { titled } from '../support/needs.ts'

const manual = '/usr/share/doc/python3-doc/html'
const installed = existsSync(join(manual, 'contents.html'))
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.py': 'text/x-python',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.png': 'image/png',
}

interface ManifestPage {
  url: string
  file: string
  title: string
  status: number
  depth: number
  sha256: string
}

/** Returns the paths that a page of the manual links to, without using the code under test. */
async function linksOf(path: string): Promise<string[]> {
  const html = await readFile(join(manual, path), 'utf8')
  const links = [...html.matchAll(/<a\b[^>]*?\shref="([^"#]+)/g)].map(([, href]) => new URL(href!, `http://x/${path}`))
  return links.filter(({ host }) => host === 'x').map(({ pathname }) => decodeURIComponent(pathname.slice(1)))
}

const reason = installed ? null : 'python3-doc is not installed'
describe.skipIf(!installed)(titled('a crawl of the Python manual', reason), () => {
  let server: Server
  let folder: string
  let base: string
  let pages: ManifestPage[]

  beforeAll(async () => {
    const root = realpathSync(manual)
    server = createServer(async (request, response) => {
      const path = decodeURIComponent(new URL(request.url!, 'http://x').pathname).replace(/\/$/, '/index.html')
      const body = await readFile(join(root, path)).catch(() => undefined)
      response.statusCode = body ? 200 : 404
      response.setHeader('content-type', body ? (types[extname(path)] ?? 'application/octet-stream') : 'text/html')
      response.end(body ?? '<title>Not found</title><h1>Not found</h1>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    folder = await mkdtemp(join(tmpdir(), 'bax-test-docs-'))
    for (const [name, limit, concurrency] of [
      ['one', '2000', '2'],
      ['few', '60', '2'],
      ['again', '60', '7'],
    ] as const) {
      const flags = ['--limit', limit, '--max-depth', '50', '--concurrency', concurrency, '-o', name]
      const result = await bax(['crawl', base, ...flags, '--state-dir', join(folder, 'state')], { cwd: folder })
      expect(result).toMatchObject({ code: 0, stdout: `${name}/index.md\n` })
    }
    pages = JSON.parse(await readFile(join(folder, 'one', 'manifest.json'), 'utf8')).pages
  }, 600_000)

  afterAll(async () => {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  })

  const filesOf = async (name: string) =>
    (await readdir(join(folder, name), { recursive: true, withFileTypes: true }))
      .filter((file) => file.isFile())
      .map((file) => relative(join(folder, name), join(file.parentPath, file.name)))
      .toSorted()

  test('writes the same files twice', async () => {
    const files = await filesOf('few')
    expect(files.length).toBe(62)
    expect(await filesOf('again')).toEqual(files)
    for (const file of files) {
      const [first, second] = await Promise.all(['few', 'again'].map((name) => readFile(join(folder, name, file))))
      expect(second!.equals(first!), file).toBe(true)
    }
  })

  test('has every page of the table of contents, and every reachable page', async () => {
    const contents = await readFile(join(manual, 'contents.html'), 'utf8')
    const listed = [...contents.matchAll(/<a class="reference internal" href="([^"#]+)/g)].map(([, path]) => path!)
    const crawled = new Map(pages.map((page) => [page.url.slice(base.length), page]))
    expect(new Set(listed).size).toBeGreaterThan(400)
    expect([...new Set(listed)].filter((path) => !crawled.has(path))).toEqual([])
    const onDisk = (await readdir(manual, { recursive: true })).filter((path) => path.endsWith('.html'))
    const linked = new Set(['index.html', ...(await Promise.all(onDisk.map(linksOf))).flat()])
    const reachable = onDisk.filter((path) => linked.has(path)).map((path) => path.replace(/^index\.html$/, ''))
    expect(reachable.length).toBeGreaterThan(450)
    expect(reachable.filter((path) => !crawled.has(path))).toEqual([])
    for (const path of listed) {
      const expected = existsSync(join(manual, path)) ? 200 : 404
      expect([path, crawled.get(path)!.status]).toEqual([path, expected])
    }
  })

  test('has a manifest that lists exactly its files', async () => {
    const files = await filesOf('one')
    expect(files).toEqual(['index.md', 'manifest.json', ...pages.map(({ file }) => file)].toSorted())
    for (const { file, sha256 } of pages) {
      const content = await readFile(join(folder, 'one', file))
      expect(content.length, file).toBeGreaterThan(0)
      expect(createHash('sha256').update(content).digest('hex'), file).toBe(sha256)
    }
    expect(new Set(pages.map(({ url }) => url)).size).toBe(pages.length)
  })

  test('has only valid links between its files, and none to the online version of a page in the mirror', async () => {
    const files = new Set(await filesOf('one'))
    const addresses = new Set(pages.map(({ url }) => url))
    let local = 0
    for (const file of files) {
      if (!file.endsWith('.md')) continue
      const text = await readFile(join(folder, 'one', file), 'utf8')
      for (const { url: address } of destinationsIn(text)) {
        const [path, place] = address.split('#') as [string, string?]
        if (URL.canParse(address)) {
          expect([file, addresses.has(path) && file !== 'index.md']).toEqual([file, false])
        } else if (path !== '' || place === undefined) {
          local++
          const target = join(dirname(file), decodeURIComponent(path))
          if (!files.has(target)) expect.fail(`${file} leads to ${target}`)
        }
      }
    }
    expect(local).toBeGreaterThan(10_000)
  })

  test('has a table of contents that lists every page once', async () => {
    const contents = await readFile(join(folder, 'one', 'index.md'), 'utf8')
    const linked = [...destinationsIn(contents)].map(({ url: address }) => decodeURIComponent(address))
    expect(linked.toSorted()).toEqual(pages.map(({ file }) => file).toSorted())
  })
})
