/** The site and the crawlers, each in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { run, treeMemory, treeOf } from '../measure.ts'
import type { CrawlOrder } from './crawler.program.ts'
import type { SitePlan } from './site.ts'
import type { CrawlReport } from './tally.ts'

export type CrawlerName = CrawlOrder['crawler']

/** Memory of a crawler with all its processes, after a number of pages. */
interface MemorySample {
  readonly pages: number
  readonly megabytes: number
}

/** Results and costs of a crawler. */
export interface Crawled extends CrawlReport {
  /** CPU time of the crawler with all its processes, in milliseconds, without their last moments. */
  readonly cpuMs: number
  readonly memory?: MemorySample[]
}

export interface Field {
  crawl(crawler: CrawlerName, wish?: { memory: boolean }): Promise<Crawled>
  close(): Promise<void>
}

const packages = ['@crawlee/playwright@3.18.1', '@crawlee/cheerio@3.18.1', 'playwright@1.65.1']
const memoryEveryMs = 2000
const cpuEveryMs = 200

/** Installs the crawlers into a folder; they use the installed browser. */
export async function installPeers(folder: string): Promise<void> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', '--prefix', folder, ...quiet, ...packages])
}

const program = (name: string): string => fileURLToPath(new URL(`./${name}.program.mjs`, import.meta.url))

/** Serves static pages of the generated site from a separate process. */
export async function openStaticSite(pages: number): Promise<{ readonly url: string; close(): Promise<void> }> {
  const site = spawnSite({ pages, staticOnly: true })
  return { url: `http://127.0.0.1:${await firstLine(site)}`, close: () => closeSite(site) }
}

const spawnSite = (plan: SitePlan): ChildProcess =>
  spawn(process.execPath, [program('site'), JSON.stringify(plan)], { stdio: ['pipe', 'pipe', 'inherit'] })

async function closeSite(site: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => site.once('exit', resolve))
  site.stdin!.end()
  await exited
}

export async function openField(wish: SitePlan & { folder: string; browser: string }): Promise<Field> {
  const { folder, browser, ...plan } = wish
  const site = spawnSite(plan)
  const port = await firstLine(site)
  const report = join(folder, 'report.json')
  return {
    async crawl(crawler, { memory } = { memory: false }) {
      const order: CrawlOrder = {
        crawler,
        report,
        url: `http://127.0.0.1:${port}`,
        plan,
        folder,
        browser,
        concurrency: 4,
      }
      const { samples, cpuMs } = await runCrawler(order, memory)
      const found = JSON.parse(await readFile(report, 'utf8')) as CrawlReport
      await rm(report)
      return {
        ...found,
        cpuMs,
        ...(memory && {
          memory: samples.map(({ ms, megabytes }) => ({
            megabytes,
            pages: found.arrivals.filter((at) => at <= ms - found.startedMs).length,
          })),
        }),
      }
    },
    close: () => closeSite(site),
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line
  throw new Error('the site did not start')
}

interface Watched {
  readonly samples: readonly { readonly ms: number; readonly megabytes: number }[]
  readonly cpuMs: number
}

/** Runs a crawler to its end, sampling its processes. */
async function runCrawler(order: CrawlOrder, sampled: boolean): Promise<Watched> {
  const env = { ...process.env, CRAWLEE_PERSIST_STORAGE: 'false', CRAWLEE_LOG_LEVEL: 'ERROR' }
  const child = spawn(process.execPath, [program('crawler'), JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: order.folder,
    env,
  })
  const samples: { ms: number; megabytes: number }[] = []
  const spent = new Map<number, number>()
  const weigh = () => samples.push({ ms: Date.now(), megabytes: treeMemory(child.pid!) })
  const count = () => treeOf(child.pid!).forEach(({ pid, cpuMs }) => spent.set(pid, cpuMs))
  // Sampling all processes costs as much as a page.
  const timers = [
    setInterval(count, sampled ? memoryEveryMs : cpuEveryMs),
    ...(sampled ? [setInterval(weigh, memoryEveryMs)] : []),
  ]
  const code = await new Promise<number | null>((resolve, reject) => child.once('exit', resolve).once('error', reject))
  timers.forEach((timer) => clearInterval(timer))
  if (code !== 0) throw new Error(`${order.crawler} ended with exit code ${code}`)
  return { samples, cpuMs: [...spent.values()].reduce((sum, ms) => sum + ms, 0) }
}
