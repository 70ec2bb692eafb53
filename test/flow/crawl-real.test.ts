/** Crawls installed documentation, a part of it twice, and compares the result with its table of contents. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawl, pathsOf, skippedOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'

const folder = '/usr/share/doc/python3.11/html'
const contents = join(folder, 'contents.html')
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const parts = ['tutorial', 'reference', 'c-api', 'howto']

/** Pages of these parts in the table of contents. */
function tableOfContents(): string[] {
  const links = [...readFileSync(contents, 'utf8').matchAll(/href="([^"#:]+\.html)/g)].map(([, href]) => `/${href!}`)
  return [...new Set(links)].filter((path) => parts.some((part) => path.startsWith(`/${part}/`)))
}

const reason = existsSync(contents) ? null : 'python3-doc is not installed'
describe.skipIf(reason)(titled('the Python documentation', reason), () => {
  let homes: Homes
  let server: Server
  let url: string

  beforeAll(async () => {
    homes = await openHomes({ home: 'embedded' })
    server = createServer((request, response) => {
      const path = join(folder, decodeURIComponent(new URL(request.url!, 'http://x').pathname))
      if (!existsSync(path) || extname(path) === '') return response.writeHead(404).end()
      response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream')
      return response.end(readFileSync(path))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/contents.html`
  })
  afterAll(async () => {
    await homes.close()
    server.closeAllConnections()
    server.close()
  })

  test('is crawled completely, with the same result twice', async () => {
    const input = { limit: 1000, max_depth: 10, include_paths: parts.map((part) => `/${part}/**`) }
    const first = await crawl(homes.clients.http, url, { ...input, concurrency: 2 })
    expect(first).toMatchObject({ success: true, status: 'completed', errors: [], robots_blocked: [] })
    const expected = tableOfContents()
    expect(expected.length).toBeGreaterThan(100)
    expect(pathsOf(first)).toEqual(expect.arrayContaining(expected))
    expect(skippedOf(first)['/contents.html']).toBe('excluded')
    for (const { markdown, metadata } of first.data) {
      expect(markdown, metadata.sourceURL).toMatch(/^#+ /m)
      expect(metadata.status_code, metadata.sourceURL).toBe(200)
    }
    // crawl-docs.test.ts compares whole crawls.
    const second = await crawl(homes.clients.http, url, { ...input, include_paths: ['/howto/**'], concurrency: 12 })
    expect(second.data.length).toBeGreaterThan(10)
    expect(second.data).toEqual(first.data.filter(({ metadata }) => metadata.sourceURL.includes('/howto/')))
    for (const list of ['errors', 'robots_blocked'] as const) expect(second[list]).toEqual(first[list])
  }, 600_000)
})
