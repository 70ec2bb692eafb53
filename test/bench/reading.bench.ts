/**
 * Reading of static pages compared with another build of bax: set BAX_BENCH_BASELINE to its `dist` folder. Without it,
 * the checkout's own build is measured against itself, which shows the noise of the machine.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openStaticSite } from './crawl/field.ts'
import { loadServer, type ServerLoad } from './reading/server-load.ts'
import { PageReader, pagesToRead } from './reading/page-reader.ts'
import type { Row, Table } from './measure.ts'

const builds = { baseline: resolve(process.env['BAX_BENCH_BASELINE'] ?? 'dist'), bax: resolve('dist') }
type Build = keyof typeof builds
const bothBuilds = ['baseline', 'bax'] as const

/** Pages of the site, all of which are crawled. */
const pages = 10_000
const rounds = 3
/** Rounds of the reading of pages in one thread, which take a second, and those before the measurement. */
const readings = 15
const warmUps = 3

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

/** Runs the variants in turn, so that noise affects all; returns the results of every round. */
async function inTurn<Variant extends string, Result>(
  variants: readonly Variant[],
  run: (variant: Variant) => Promise<Result>,
  times = rounds,
): Promise<Record<Variant, Result[]>> {
  const all = Object.fromEntries(variants.map((variant) => [variant, []])) as unknown as Record<Variant, Result[]>
  for (let round = 0; round < times; round++) for (const variant of variants) all[variant].push(await run(variant))
  return all
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Formats the median with the least and the greatest value, as three rounds have no quartiles. */
const withRange = (values: readonly number[], digits: number): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`

const bounded = (text: string, met: boolean, bound: string): string => `${text} (${bound}${met ? '' : ', MISSED'})`

/** Measures the CPU time of one reader thread, garbage collection and compilation included. */
async function readingTable(): Promise<Table> {
  const tasks = pagesToRead(200)
  const readers = { baseline: new PageReader(builds.baseline), bax: new PageReader(builds.bax) }
  try {
    const read = (build: Build) => readers[build].read(tasks)
    await inTurn(bothBuilds, read, warmUps)
    const spent = await inTurn(bothBuilds, read, readings)
    const [before, now] = [median(spent.baseline), median(spent.bax)]
    const ratio = now / before
    return {
      title: 'CPU to read a static page',
      columns: ['CPU ms a page, median (range)', 'to the baseline'],
      note: `One reader thread, warm; ${tasks.length} pages, median of ${readings} runs in turn.`,
      rows: [
        { name: 'baseline', cells: [withRange(spent.baseline, 2), '1x'] },
        {
          name: '**bax**',
          cells: [withRange(spent.bax, 2), bounded(`${ratio.toFixed(2)}x`, ratio <= 0.6, 'at most 0.6x')],
        },
      ],
    }
  } finally {
    await Promise.all(Object.values(readers).map((reader) => reader.close()))
  }
}

async function serverTable(site: string, folder: string): Promise<Table> {
  const found = await inTurn(bothBuilds, (build) => loadServer(builds[build], { site, pages, folder }))
  const all = (build: Build, fact: keyof ServerLoad) => found[build].map((load) => load[fact])
  const of = (build: Build, fact: keyof ServerLoad) => median(all(build, fact))
  const shown = (build: Build, fact: keyof ServerLoad, digits: number) => withRange(all(build, fact), digits)
  const ratio = of('bax', 'perSecond') / of('baseline', 'perSecond')
  const row = (name: string, build: Build, cells: readonly string[]): Row => ({
    name,
    cells: [shown(build, 'perSecond', 1), shown(build, 'cpuMs', 1), shown(build, 'megabytes', 0), ...cells],
  })
  const [lag, cores] = [of('bax', 'lagMs'), of('bax', 'allCores')]
  return {
    title: 'Static scrapes by 32 clients of `bax serve`',
    columns: ['scrapes/s', 'CPU ms each', 'MB', 'event loop p99, ms', 'its cores', 'cores busy', 'to the baseline'],
    note: `Median (range) of ${rounds} servers in turn, each warm. The site and the clients use the same cores; "cores busy" includes them.`,
    rows: [
      row('baseline', 'baseline', [
        shown('baseline', 'lagMs', 0),
        shown('baseline', 'cores', 2),
        shown('baseline', 'allCores', 2),
        '1x',
      ]),
      row('**bax**', 'bax', [
        bounded(shown('bax', 'lagMs', 0), lag <= 30, 'at most 30'),
        shown('bax', 'cores', 2),
        bounded(shown('bax', 'allCores', 2), cores >= 1.7, 'at least 1.7 of 2'),
        bounded(`${ratio.toFixed(2)}x`, ratio >= 2, 'at least 2x'),
      ]),
    ],
  }
}

async function crawlTable(site: string, folder: string): Promise<Table> {
  const found = await inTurn([...bothBuilds, 'remembering'], (variant) => crawl(variant, site, folder))
  const speeds = (variant: CrawlVariant) => found[variant].map(({ seconds }) => pages / seconds)
  const before = median(speeds('baseline'))
  const [first, ...others] = [...found.baseline, ...found.bax].map(({ hashes }) => hashes)
  const differ = Math.max(...others.map((hashes) => differences(first!, hashes)))
  const row = (name: string, variant: CrawlVariant, bound?: number): Row => {
    const ratio = median(speeds(variant)) / before
    const cell = `${ratio.toFixed(2)}x`
    return {
      name,
      cells: [withRange(speeds(variant), 1), bound ? bounded(cell, ratio >= bound, `at least ${bound}x`) : cell],
    }
  }
  return {
    title: `A crawl of ${pages} static pages`,
    columns: ['pages/s, median (range)', 'to the baseline'],
    note: `Without site memory, ${differ === 0 ? 'the output is the same: pages, order and bytes' : `${differ} pages DIFFER`}. From the start of the process; median of ${rounds} runs in turn.`,
    rows: [row('baseline', 'baseline'), row('**bax**', 'bax', 1.5), row('**bax**, with site memory', 'remembering')],
  }
}

/** Returns the number of pages that differ; fails if one crawl is not as long as the other. */
function differences(one: readonly string[], other: readonly string[]): number {
  if (one.length !== other.length) throw new Error(`a crawl found ${one.length} pages, another one ${other.length}`)
  return one.filter((page, at) => page !== other[at]).length
}

/** The builds without site memory, which older builds lack and which changes the output; `remembering` is bax with it. */
type CrawlVariant = Build | 'remembering'

/** Crawls the site in a process of its own; returns hashes of its pages. */
async function crawl(
  variant: CrawlVariant,
  site: string,
  folder: string,
): Promise<{ seconds: number; hashes: string[] }> {
  const dist = builds[variant === 'baseline' ? 'baseline' : 'bax']
  const own = variant === 'bax' ? ['--no-site-memory'] : []
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
  const seconds = (performance.now() - start) / 1000
  const { data } = JSON.parse(text) as { data: object[] }
  return { seconds, hashes: data.map((page) => createHash('sha256').update(JSON.stringify(page)).digest('base64')) }
}
