/** Progress of long commands: shown on standard error, and only on a terminal. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { withByteCount } from '../../src/cli/output/progress.ts'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let search: SearchServer
let folder: ScriptFolder
/** Releases the held pages. */
let releasePages: () => void
let held: Promise<void>

beforeAll(async () => {
  search = await serveSearch()
  site = await serveSite({
    '/now': '<!doctype html><title>Now</title><h1>Now</h1>',
    '/held': (_, response) => void held.then(() => response.end('<!doctype html><title>Held</title><h1>Held</h1>')),
  })
  search.setResults([{ url: `${site.url}/held`, title: 'Held', snippet: 'A page that takes its time' }])
  homes = await openHomes({ search: search.config('searxng') })
})
beforeEach(async () => {
  folder = await scriptFolder()
  held = new Promise((resolve) => (releasePages = resolve))
})
afterEach(() => folder.close())
afterAll(async () => {
  await homes.close()
  await search.close()
  await site.close()
})

/** Runs a command on a terminal, and holds its page until the output matches `words`; without `words`, does neither. */
async function run(argv: readonly string[], words?: RegExp) {
  if (!words) releasePages()
  let output = ''
  return bax([...argv, '--server', homes.baseUrl], {
    cwd: folder.path,
    tty: words !== undefined,
    columns: 100,
    env: { NO_COLOR: '1' },
    onError(text) {
      output += text
      if (words?.test(output)) releasePages()
    },
  })
}

describe('a scrape of many pages', () => {
  const argv = () => [
    'scrape',
    `${site.url}/now`,
    `${site.url}/nothing`,
    `${site.url}/held`,
    '--fail-on-status',
    '-o',
    'pages/',
  ]

  test('shows how many are finished, failed and left, and the rate', async () => {
    const { code, stdout } = await run(argv(), /2 of 3 pages, [\d.]+\/s, 1 left, 1 failed/)
    expect(code).toBe(1)
    expect(stdout).toContain('pages/')
  })

  test('shows no progress without a terminal', async () => {
    expect((await run(argv())).stderr).not.toContain('of 3 pages')
  })
})

describe('a search', () => {
  const argv = ['search', 'deltas', '--limit', '1', '--formats', 'markdown']

  test('shows its activity and duration', async () => {
    expect((await run(argv, /searching deltas, and scraping the results \(at most 1\): \d+ s/)).code).toBe(0)
  })

  test('shows no progress without a terminal', async () => {
    expect((await run(argv)).stderr).toBe('')
  })
})

describe('a transfer', () => {
  /** Passes bytes on, the second half once the output matches `words`. */
  async function pass(words?: RegExp) {
    let output = ''
    let read = () => {}
    const seen = new Promise<void>((resolve) => (read = resolve))
    const screen = {
      isTTY: words !== undefined,
      columns: 100,
      cursorTo: () => true,
      clearLine: () => true,
      moveCursor: () => true,
      write(text: string | Uint8Array) {
        output += String(text)
        if (words?.test(output)) read()
      },
    }
    async function* halves() {
      yield new Uint8Array(1_000_000).fill(1)
      if (words) await seen
      yield new Uint8Array(1_000_000).fill(2)
    }
    const passed: Uint8Array[] = []
    const io = { stderr: screen, env: {} } as unknown as Io
    for await (const chunk of withByteCount(io, 'data.bin', halves(), 2_000_000)) passed.push(chunk)
    return { output, passed: Buffer.concat(passed) }
  }

  test('shows transferred and total bytes and the rate, and does not change the bytes', async () => {
    const { passed } = await pass(/data\.bin: 1\.0 of 2\.0 MB, [\d.]+ MB\/s/)
    expect([passed.length, passed[0], passed.at(-1)]).toEqual([2_000_000, 1, 2])
  })

  test('shows no progress without a terminal', async () => {
    expect((await pass()).output).toBe('')
  })
})
