/**
 * Reading of static pages compared with another build of bax: set BAX_BENCH_BASELINE to its `dist` folder. Without it,
 * the checkout's own build is measured against itself, which shows the noise of the machine.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { limits } from '../../src/core/limits/limits.ts'
import { openStaticSite } from './crawl/field.ts'
import { loadServer, type ServerLoad } from './reading/server-load.ts'
import { PageReader, pagesToRead } from './reading/page-reader.ts'
import type { Row, Table } from './measure.ts'

const builds = { baseline: resolve(process.env['BAX_BENCH_BASELINE'] ?? 'dist'), bax: resolve('dist') }
type Build = keyof typeof builds

const pages = 2000
const rounds = 3

export async function measure(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const site = await openStaticSite(pages)
  try {
    return [await readingTable(), await serverTable(site.url, folder), await crawlTable(site.url, folder)]
  } finally {
    await site.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the builds in turn, so that noise affects both; returns the results of every round. */
async function inTurn<Result>(run: (build: Build) => Promise<Result>): Promise<Record<Build, Result[]>> {
  const all: Record<Build, Result[]> = { baseline: [], bax: [] }
  for (let round = 0; round < rounds; round++)
    for (const build of ['baseline', 'bax'] as const) all[build].push(await run(build))
  return all
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const bounded = (text: string, met: boolean, bound: string): string => `${text} (${bound}${met ? '' : ', MISSED'})`

/** Measures the CPU time of one reader thread, garbage collection and compilation included. */
async function readingTable(): Promise<Table> {
  const tasks = pagesToRead(200)
  const readers = { baseline: new PageReader(builds.baseline), bax: new PageReader(builds.bax, limits.reading.youngMb) }
  try {
    for (const reader of Object.values(readers)) await reader.read(tasks)
    const spent = await inTurn((build) => readers[build].read(tasks))
    const [before, now] = [median(spent.baseline), median(spent.bax)]
    const ratio = now / before
    return {
      title: 'CPU to read a static page',
      columns: ['CPU ms a page', 'to the baseline'],
      note: `One reader thread, warm; ${tasks.length} pages, median of ${rounds} runs in turn.`,
      rows: [
        { name: 'baseline', cells: [before.toFixed(2), '1x'] },
        { name: '**bax**', cells: [now.toFixed(2), bounded(`${ratio.toFixed(2)}x`, ratio <= 0.6, 'at most 0.6x')] },
      ],
    }
  } finally {
    await Promise.all(Object.values(readers).map((reader) => reader.close()))
  }
}

async function serverTable(site: string, folder: string): Promise<Table> {
  const found = await inTurn((build) => loadServer(builds[build], { site, pages, folder }))
  const of = (build: Build, fact: keyof ServerLoad) => median(found[build].map((load) => load[fact]))
  const ratio = of('bax', 'perSecond') / of('baseline', 'perSecond')
  const row = (name: string, build: Build, cells: readonly string[]): Row => ({
    name,
    cells: [of(build, 'perSecond').toFixed(1), of(build, 'cpuMs').toFixed(1), of(build, 'megabytes').toFixed(0), ...cells], // prettier-ignore
  })
  const [lag, cores] = [of('bax', 'lagMs'), of('bax', 'cores')]
  return {
    title: 'Static scrapes by 32 clients of `bax serve`',
    columns: ['scrapes/s', 'CPU ms each', 'MB', 'event loop p99, ms', 'cores busy', 'to the baseline'],
    note: `Median of ${rounds} servers in turn, each warm. The site and the clients use the same cores.`,
    rows: [
      row('baseline', 'baseline', [of('baseline', 'lagMs').toFixed(0), of('baseline', 'cores').toFixed(2), '1x']),
      row('**bax**', 'bax', [
        bounded(lag.toFixed(0), lag <= 30, 'at most 30'),
        bounded(cores.toFixed(2), cores >= 1.7, 'at least 1.7 of 2'),
        bounded(`${ratio.toFixed(2)}x`, ratio >= 2, 'at least 2x'),
      ]),
    ],
  }
}

async function crawlTable(site: string, folder: string): Promise<Table> {
  const found = await inTurn((build) => crawl(builds[build], site, folder))
  const seconds = (build: Build) => median(found[build].map((crawled) => crawled.seconds))
  const [before, now] = [seconds('baseline'), seconds('bax')]
  const outputs = new Set([...found.baseline, ...found.bax].map(({ output }) => output))
  const row = (name: string, time: number, cell: string): Row => ({ name, cells: [(pages / time).toFixed(1), cell] })
  return {
    title: `A crawl of ${pages} static pages`,
    columns: ['pages/s', 'to the baseline'],
    note: `${outputs.size === 1 ? 'The output is the same' : 'The outputs DIFFER'}: pages, order and bytes. From the start of the process; median of ${rounds} runs in turn.`,
    rows: [
      row('baseline', before, '1x'),
      row('**bax**', now, bounded(`${(before / now).toFixed(2)}x`, before / now >= 1.5, 'at least 1.5x')),
    ],
  }
}

/** Crawls the site in a process of its own; the output is without values that differ between runs. */
async function crawl(dist: string, site: string, folder: string): Promise<{ seconds: number; output: string }> {
  // Older builds have no site memory, which changes the output.
  const own = dist === builds.bax ? ['--no-site-memory'] : []
  const flags = ['--render', 'http', '--limit', String(pages), '--max-depth', '9', '--json', '--embedded', ...own]
  const env = { ...process.env, BAX_STATE_DIR: await mkdtemp(join(folder, 'state-')) }
  const start = performance.now()
  const child = spawn(process.execPath, [join(dist, 'main.js'), 'crawl', site, ...flags], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk
  const code = await exited
  if (code !== 0) throw new Error(`the crawl ended with exit code ${code}`)
  const isVolatile = (name: string) => /^(?:id|url|duration_ms|elapsed_ms|expires_at|\w+_at)$/.test(name)
  const answer = JSON.parse(text) as Record<string, unknown>
  const stable = Object.fromEntries(Object.entries(answer).filter(([name]) => !isVolatile(name)))
  return { seconds: (performance.now() - start) / 1000, output: JSON.stringify(stable) }
}
