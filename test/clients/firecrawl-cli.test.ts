/** Firecrawl's own CLI with a server that requires a key. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageFolder } from '../support/packages.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'
import { article } from '../support/web.ts'

let served: Served
let site: Site
let engines: SearchServer
/** A URL on a closed port. */
let closed: string
let program: string
let home: string

beforeAll(async () => {
  ;[site, engines, home] = await Promise.all([
    serveSite({
      '/': '<!doctype html><title>Home</title><main><h1>Home</h1><a href="/a">A</a> <a href="/article">Deltas</a></main>',
      '/a': '<!doctype html><title>A</title><h1>A</h1>',
      '/article': article,
      '/slow': () => {},
    }),
    serveSearch(),
    mkdtemp(join(tmpdir(), 'bax-test-firecrawl-')),
  ])
  program = fileURLToPath(new URL('dist/index.js', await packageFolder('firecrawl-cli', '1.23.3')))
  const gone = await serveSite({})
  closed = gone.url
  await gone.close()
  served = await serveBax(engines.env('searxng'))
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await engines.close()
  await site.close()
  await rm(home, { recursive: true })
})

/** Runs it with its own home folder, without an account. */
async function firecrawl(...argv: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: home,
      FIRECRAWL_API_URL: served.url,
      FIRECRAWL_API_KEY: served.key,
      FIRECRAWL_NO_TELEMETRY: '1',
      FIRECRAWL_NO_UPDATE_NOTIFIER: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, errors }
}

test('scrape prints a page, and writes it to a file', async () => {
  const { code, out } = await firecrawl('scrape', `${site.url}/article`, '--only-main-content')
  expect(code).toBe(0)
  expect(out).toContain('# How deltas grow')
  expect(out).not.toContain('All rights reserved')
  const several = await firecrawl('scrape', `${site.url}/article`, '--format', 'markdown,links', '-o', 'page.json')
  expect(several.code).toBe(0)
  expect(JSON.parse(await readFile(join(home, 'page.json'), 'utf8'))).toMatchObject({
    markdown: expect.stringContaining('How deltas grow'),
    links: expect.arrayContaining([`${site.url}/about`]),
    metadata: { statusCode: 200 },
  })
})

test('a failure is reported with the error of bax', async () => {
  const { code, errors } = await firecrawl('scrape', closed)
  expect(code).toBe(1)
  expect(errors).toContain('Error: connection refused')
})

test('crawl waits for a site', async () => {
  const { code, out } = await firecrawl(
    'crawl',
    site.url,
    '--wait',
    '--poll-interval',
    '1',
    '--limit',
    '3',
    '-o',
    'site.json',
  )
  expect([code, out]).toEqual([0, expect.anything()])
  const { status, data } = JSON.parse(await readFile(join(home, 'site.json'), 'utf8')) as {
    status: string
    data: { metadata: { title: string } }[]
  }
  expect(status).toBe('completed')
  expect(data.map(({ metadata }) => metadata.title)).toEqual(['Home', 'A', 'How deltas grow'])
})

test('crawl starts one, shows its status and cancels it by ID', async () => {
  const started = await firecrawl('crawl', `${site.url}/slow`)
  const { jobId } = (JSON.parse(started.out) as { data: { jobId: string } }).data
  expect(JSON.parse((await firecrawl('crawl', jobId)).out)).toMatchObject({ id: jobId, status: 'scraping', total: 1 })
  expect(await firecrawl('crawl', jobId, '--cancel')).toMatchObject({ code: 0 })
  expect(JSON.parse((await firecrawl('crawl', jobId, '--status')).out)).toMatchObject({ status: 'cancelled' })
})

test('map prints the URLs of a site', async () => {
  const { code, out } = await firecrawl('map', site.url)
  expect(code).toBe(0)
  expect(out.trim().split('\n')).toEqual([
    `${site.url}/`,
    `${site.url}/a`,
    `${site.url}/article`,
    expect.any(String),
    expect.any(String),
    expect.any(String),
  ])
})

test('search prints results with their pages', async () => {
  engines.setResults([{ url: `${site.url}/article`, title: 'Deltas', snippet: 'How they grow' }])
  const { code, out } = await firecrawl('search', 'deltas', '--limit', '3', '--scrape')
  expect(code).toBe(0)
  expect(out).toContain('Deltas')
  expect(out).toContain('# How deltas grow')
})

test('status and credit usage show what is unlimited', async () => {
  const usage = await firecrawl('credit-usage')
  expect(usage).toMatchObject({ code: 0, errors: expect.not.stringContaining('Error') })
  expect(usage.out).toContain('1,000,000,000')
  const status = await firecrawl('--status')
  expect(status.code).toBe(0)
  expect(status.out + status.errors).toContain('1,000,000,000')
})
