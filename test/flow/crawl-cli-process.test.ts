import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type Site, serveSite } from '../support/site.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait.ts'

/** Pages of the site; each links to the next ones. */
const count = 30
/** The page whose response is held back. */
const heldPage = '/p/12'

let built: BuiltBax
let site: Site
let folder: string
let state: string
let held = false
const waiting = new Set<ServerResponse>()

const links = (at: number) =>
  [at * 3 + 1, at * 3 + 2, at * 3 + 3]
    .filter((next) => next < count)
    .map((next) => `<a href="/p/${next}">page ${next}</a>`)
    .join(' and ')
const html = (at: number) =>
  `<!doctype html><title>Page ${at}</title><main><h1>Page ${at}</h1><p>It leads to ${links(at) || 'nothing'}.</p></main>`

beforeAll(async () => {
  built = await buildBax()
  const pages = Array.from({ length: count }, (_, at) => [`/p/${at}`, html(at)] as const)
  site = await serveSite({
    ...Object.fromEntries(pages),
    [heldPage]: (_, response) => {
      if (held) waiting.add(response)
      else response.setHeader('content-type', 'text/html').end(html(12))
    },
  })
})
afterAll(async () => {
  await site.close()
  await built.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-crawl-'))
  state = await built.stateDir()
  held = false
  site.requests.length = 0
})
afterEach(async () => {
  for (const response of waiting) response.destroy()
  waiting.clear()
  await rm(folder, { recursive: true, force: true })
})

const argv = (...flags: string[]) => [
  'crawl',
  `${site.url}/p/0`,
  '--render',
  'http',
  '--limit',
  '100',
  '--max-depth',
  '9',
  '--concurrency',
  '2',
  ...flags,
]
const options = () => ({ cwd: folder, env: { BAX_STATE_DIR: state } })
const run = (...words: string[]) => built.run(words, options())
const manifest = async (name: string) => JSON.parse(await readFile(join(folder, name, 'manifest.json'), 'utf8'))

/** Returns the files of a mirror with their contents. */
async function tree(name: string): Promise<Record<string, string>> {
  const files = await readdir(join(folder, name), { recursive: true, withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  const read = async (path: string) => [path.slice(join(folder, name).length), await readFile(path, 'utf8')] as const
  return Object.fromEntries(await Promise.all(paths.map(read)))
}

let undisturbed: Record<string, string> | undefined
/** The mirror of an undisturbed crawl, which runs once. */
async function whole(): Promise<Record<string, string>> {
  if (undisturbed) return undisturbed
  expect(await run(...argv('-o', 'whole'))).toMatchObject({ code: 0 })
  return (undisturbed = await tree('whole'))
}

/** Returns the pages in an unfinished mirror. */
const written = async (name: string) =>
  (await readdir(join(folder, name), { recursive: true }).catch(() => [])).filter((path) => /p.\d+\.md$/.test(path))
    .length

/** Removes values that differ between runs. */
function withoutVolatile(answer: object): unknown {
  const text = JSON.stringify(answer, (name, value: unknown) =>
    name === 'duration_ms' || name === 'scrape_id' || name === 'id' ? undefined : value,
  )
  return { keys: Object.keys(answer), ...JSON.parse(text.replaceAll(/\/v1\/crawl\/crl_[\w-]+/g, '/v1/crawl/…')) }
}

/** Releases the held responses. */
function release(): void {
  for (const response of waiting) response.setHeader('content-type', 'text/html').end(html(12))
  waiting.clear()
}

/** Returns the paths of all requested pages. */
const requestedPages = () => site.requests.filter((path) => path.startsWith('/p/'))

describe('an interrupted crawl', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)(
    'by %s ends cleanly with the pages so far, and resumes without losing or repeating any',
    async (signal, exit) => {
      const expected = await whole()
      site.requests.length = 0
      held = true
      const running = built.start(argv('-o', 'out'), options())
      await waitUntil(async () => (await written('out')) === 12)
      running.child.kill(signal)
      const { code, stdout, stderr } = await running.ended
      expect({ code, stdout }).toEqual({ code: exit, stdout: 'out/index.md\n' })
      const { id, status, pages, resume } = await manifest('out')
      expect(resume).toBe(`bax crawl --resume ${id} --output out`)
      expect(stderr).toContain(`interrupted; resume with: bax crawl --resume ${id} --output out\n`)
      expect({ status, pages: pages.length }).toEqual({ status: 'cancelled', pages: 12 })
      const before = new Set(
        requestedPages().filter(
          (path) => path !== heldPage && pages.some(({ url }: { url: string }) => url.endsWith(path)),
        ),
      )

      held = false
      site.requests.length = 0
      expect(await run('crawl', '--resume', id, '-o', 'out')).toMatchObject({ code: 0, stdout: 'out/index.md\n' })
      expect(requestedPages().filter((path) => before.has(path))).toEqual([])
      expect(await tree('out')).toEqual(expected)
    },
  )

  test('by SIGKILL can be resumed', async () => {
    const expected = await whole()
    held = true
    const running = built.start(argv('-o', 'out'), options())
    await waitUntil(async () => (await written('out')) === 12)
    running.child.kill('SIGKILL')
    await running.ended
    held = false
    // The output folder names its crawl, and how to resume it.
    const note = await readFile(join(folder, 'out', 'unfinished-crawl.txt'), 'utf8')
    const [, id] = /^ {2}bax crawl --resume (crl_\S+) --output out$/m.exec(note)!
    const listed = JSON.parse((await run('crawl', 'list', '--json')).stdout)
    expect(listed.crawls.find((crawl: { id: string }) => crawl.id === id)).toMatchObject({
      start_url: `${site.url}/p/0`,
      status: 'failed',
      completed: 12,
      output: join(folder, 'out'),
    })
    expect(await run('crawl', '--resume', id!, '-o', 'out')).toMatchObject({ code: 0 })
    expect(await tree('out')).toEqual(expected)
  })

  test('hints at --resume when it is started again', async () => {
    held = true
    const running = built.start(argv('-o', 'out'), options())
    await waitUntil(async () => (await written('out')) === 12)
    running.child.kill('SIGKILL')
    await running.ended
    held = false
    const { code, stderr } = await run(...argv('-o', 'out'))
    expect(code).toBe(0)
    expect(stderr).toMatch(/^replacing the unfinished crawl in out; to resume it instead: bax crawl --resume crl_/)
    expect(await tree('out')).toEqual(await whole())
  })

  test('by its timeout keeps its pages and can be resumed', async () => {
    held = true
    const ended = await run(...argv('-o', 'out', '--timeout-secs', '6'))
    expect(ended).toMatchObject({ code: 6, stdout: 'out/index.md\n' })
    const { id, status } = await manifest('out')
    expect(status).toBe('failed')
    expect(ended.stderr).toContain(`[timeout]\nhint: resume with "bax crawl --resume ${id} --output out"\n`)
    held = false
    expect(await run('crawl', '--resume', id, '-o', 'out')).toMatchObject({ code: 0 })
    expect(await tree('out')).toEqual(await whole())
  })

  test('with --json prints the pages so far', async () => {
    held = true
    const running = built.start(argv('--json', '--concurrency', '1'), options())
    await waitUntil(() => waiting.size > 0)
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(code).toBe(130)
    const { status, completed, data } = JSON.parse(stdout)
    expect(status).toBe('cancelled')
    expect(completed).toBeGreaterThanOrEqual(11)
    expect(data).toHaveLength(completed)
  })

  test('ends when its output is closed', async () => {
    held = true
    const shell = `node '${built.program}' ${argv('--ndjson').join(' ')} | head -n 1`
    const child = spawn('sh', ['-c', shell], { cwd: folder, env: { ...process.env, BAX_STATE_DIR: state } })
    const out: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expect(JSON.parse(Buffer.concat(out).toString())).toMatchObject({ index: 0, url: `${site.url}/p/0` })
  })
})

describe('a crawl on a separate engine', () => {
  test('runs in the background; its status and pages can be read, and it can be cancelled', async () => {
    held = true
    const started = await run(...argv('--async'))
    expect(started).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^crl_\S+\n$/) })
    const id = started.stdout.trim()
    await waitUntil(() => waiting.size > 0)
    expect((await run('crawl', '--status', id)).stdout).toMatch(/^status +scraping$/m)
    const follower = built.start(['crawl', '--resume', id, '-o', 'out'], options())
    await waitUntil(async () => (await written('out')) === 12)
    // Reading a crawl does not end it.
    follower.child.kill('SIGINT')
    expect(await follower.ended).toMatchObject({ code: 130 })
    expect(JSON.parse((await run('crawl', '--status', id, '--json')).stdout)).toMatchObject({
      status: 'scraping',
      completed: 12,
    })
    expect(await run('crawl', '--cancel', id)).toMatchObject({ code: 0, stdout: 'cancelled\n' })

    held = false
    expect(await run('crawl', '--resume', id, '-o', 'out')).toMatchObject({ code: 0 })
    expect(await tree('out')).toEqual(await whole())
  })

  test('is the same from `bax serve`, as mirror, NDJSON and JSON', async () => {
    const expected = await whole()
    const running = built.start(['serve', '--port', '0', '--allow-private', '127.0.0.1'], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    const address = /http:[^\s"]+/.exec(await running.waitForStderr('bax is listening on http://'))![0]
    const server = ['--server', address]
    expect(await run(...argv('-o', 'out', ...server))).toMatchObject({ code: 0, stdout: 'out/index.md\n' })
    expect(await tree('out')).toEqual(expected)
    const rows = (await run(...argv('--ndjson', ...server))).stdout.trim().split('\n')
    const answer = JSON.parse((await run(...argv('--json', ...server))).stdout)
    const { data } = answer
    const body = { url: `${site.url}/p/0`, render: 'http', limit: 100, max_depth: 9, concurrency: 2 }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${address}/v1/crawl`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(withoutVolatile(answer)).toEqual(withoutVolatile(await response.json()))
    expect(rows.map((line) => JSON.parse(line).markdown)).toEqual(
      data.map(({ markdown }: { markdown: string }) => markdown),
    )
    expect(data).toHaveLength(count)
    const refused = await run(...argv('--limit', '5000', ...server))
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('limit') })
    // A closed terminal ends a server as SIGTERM does.
    running.child.kill('SIGHUP')
    expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('ended') })
  })

  test('continues after a lost connection to the server without losing or repeating a page', async () => {
    const running = built.start(['serve', '--port', '0', '--allow-private', '127.0.0.1'], {
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    const address = /http:[^\s"]+/.exec(await running.waitForStderr('bax is listening on http://'))![0]
    const proxy = await startTcpProxy(Number(new URL(address).port))
    held = true
    const lines: string[] = []
    const crawling = built.start(argv('--ndjson', '--server', proxy.url), options())
    crawling.child.stdout!.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)))
    await waitUntil(() => lines.length === 12)
    proxy.interrupt()
    held = false
    release()
    const { code, stdout, stderr } = await crawling.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const indexes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).index)
    expect(indexes).toEqual(Array.from({ length: count }, (_, at) => at))
    expect(proxy.connections()).toBeGreaterThan(2)
    await proxy.close()
    running.child.kill('SIGTERM')
    await running.ended
  })

  test('that is killed is reported, with a hint to resume it', async () => {
    held = true
    expect(await run('session', 'create', '--headless')).toMatchObject({ code: 0 })
    const { pid } = JSON.parse((await run('engine', 'status', '--json')).stdout)
    const running = built.start(argv('-o', 'out'), options())
    await waitUntil(async () => (await written('out')) === 12)
    process.kill(pid, 'SIGKILL')
    const { code, stderr } = await running.ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/^error: .*\nhint: resume with "bax crawl --resume crl_\S+ --output out"$/m)
    held = false
    const id = /crl_\S+/.exec(stderr)![0]
    expect(await run('crawl', '--resume', id, '-o', 'out')).toMatchObject({ code: 0 })
    expect(await tree('out')).toEqual(await whole())
  })
})
