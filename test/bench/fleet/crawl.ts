/** Crawls of slow pages on 1 to 8 workers, and what they cost Redis. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type CrawlAnswer, crawlInput } from '../../../src/core/shapes/crawl.ts'
import { Identities } from '../../../src/engine/scrape/identity/identities.ts'
import { CrawlService } from '../../../src/engine/crawl/crawls.ts'
import { FleetCrawlHost } from '../../../src/fleet/crawl/host.ts'
import type { FleetCrawl } from '../../../src/fleet/crawl/store/store.ts'
import { freePort } from '../../support/ports.ts'
import { call } from '../engines.ts'
import type { Row, Table } from '../measure.ts'

const pageMs = 300
const pagesPerWorker = 4
const workerCounts = [1, 2, 4, 8]
/** Pages of a crawl, for each worker: about 15 seconds. */
const pagesPerCrawl = 200

interface Cost {
  readonly commands: number
  readonly cpuSecs: number
  readonly bytes: number
  readonly sent: number
}

interface Run {
  readonly workers: number
  readonly pages: number
  readonly seconds: number
  readonly cost: Cost
  /** Processor time of all workers, in seconds. */
  readonly cpuSecs: number
}

export async function measureCrawls(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-redis-'))
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''],
    { stdio: 'ignore' },
  )
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 50 })
  redis.on('error', () => {})
  const crawls = new CrawlService(
    new FleetCrawlHost({
      redis,
      build: 'source',
      log: () => {},
      mostPages: Infinity,
      check: async () => {},
      identities: async () => new Identities({ stateDir: folder }),
      workers: async () => 1,
    }),
  )
  const site = await serveSlowSite()
  try {
    const runs: Run[] = []
    for (const workers of workerCounts) runs.push(await measureRun({ redis, crawls, port, workers, site }))
    return tablesOf(runs)
  } finally {
    await crawls.close()
    redis.disconnect()
    server.kill()
    await once(server, 'exit')
    site.closeAllConnections()
    site.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface RunFacts {
  readonly redis: Redis
  readonly crawls: CrawlService<FleetCrawl>
  readonly port: number
  readonly workers: number
  readonly site: Server
}

async function measureRun({ redis, crawls, port, workers, site }: RunFacts): Promise<Run> {
  const facts = JSON.stringify({
    url: `redis://127.0.0.1:${port}`,
    pages: pagesPerWorker,
    slots: workers * pagesPerWorker,
  })
  const started = await Promise.all(Array.from({ length: workers }, () => startWorker(facts)))
  const crawl = async (pages: number) => {
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/?pages=${pages - 1}`
    const answer = (await crawls.crawl(crawlInput.parse({ url, limit: pages, timeout_secs: 600 }), call)) as CrawlAnswer
    if (answer.completed !== pages) throw new Error(`${answer.completed} of ${pages} pages`)
  }
  try {
    // Loads the modules of every worker.
    await crawl(workers * pagesPerWorker * 4)
    const pages = workers * pagesPerCrawl
    const [before, cpuBefore] = await Promise.all([costOf(redis), cpuOf(started)])
    const start = performance.now()
    await crawl(pages)
    const seconds = (performance.now() - start) / 1000
    const [after, cpuAfter] = await Promise.all([costOf(redis), cpuOf(started)])
    const between = (name: keyof Cost) => after[name] - before[name]
    return {
      workers,
      pages,
      seconds,
      cpuSecs: cpuAfter - cpuBefore,
      cost: {
        commands: between('commands'),
        cpuSecs: between('cpuSecs'),
        bytes: between('bytes'),
        sent: between('sent'),
      },
    }
  } finally {
    for (const worker of started) worker.disconnect()
    await Promise.all(started.map((worker) => once(worker, 'exit')))
    // The locks of ended workers expire.
    await pause(500)
  }
}

async function startWorker(facts: string): Promise<ChildProcess> {
  const worker = fork(join(import.meta.dirname, 'worker.program.mjs'), [facts], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(worker, 'message')
  return worker
}

async function cpuOf(workers: readonly ChildProcess[]): Promise<number> {
  const answers = workers.map(async (worker) => {
    worker.send('cpu')
    const [seconds] = (await once(worker, 'message')) as [number]
    return seconds
  })
  return (await Promise.all(answers)).reduce((sum, seconds) => sum + seconds, 0)
}

async function costOf(redis: Redis): Promise<Cost> {
  const info = await redis.info()
  const value = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
  return {
    commands: value('total_commands_processed'),
    cpuSecs: value('used_cpu_user') + value('used_cpu_sys'),
    bytes: value('used_memory'),
    sent: value('total_net_input_bytes') + value('total_net_output_bytes'),
  }
}

async function serveSlowSite(): Promise<Server> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    if (url.pathname === '/robots.txt') return void response.writeHead(404).end()
    const count = Number(url.searchParams.get('pages') ?? 0)
    const links = Array.from({ length: count }, (_, at) => `<li><a href="/page/${at}">Page ${at}</a></li>`).join('')
    const text = 'The river carries sand and silt from the mountains to the sea, and the delta grows. '.repeat(50)
    const html = `<!doctype html><html lang="en"><title>${url.pathname}</title><main><h1>${url.pathname}</h1><p>${text}</p><ul>${links}</ul></main></html>`
    setTimeout(() => response.setHeader('content-type', 'text/html').end(html), pageMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function tablesOf(runs: readonly Run[]): Table[] {
  const speed = ({ pages, seconds }: Run) => pages / seconds
  const row = (run: Run): Row => {
    const ratio = speed(run) / speed(runs[0]!)
    const least = 0.9 * run.workers
    return {
      name: `${run.workers} workers`,
      cells: [
        speed(run).toFixed(1),
        `${ratio.toFixed(2)}x (at least ${least.toFixed(1)}x${ratio >= least ? '' : ', MISSED'})`,
        `${((run.cpuSecs / run.pages) * 1e3).toFixed(1)} ms`,
      ],
    }
  }
  const cost = (run: Run): Row => {
    const { commands, cpuSecs, bytes, sent } = run.cost
    const each = (value: number) => value / run.pages
    return {
      name: `${run.workers} workers`,
      cells: [
        each(commands).toFixed(1),
        `${(each(cpuSecs) * 1e6).toFixed(0)} µs`,
        `${(each(sent) / 1024).toFixed(1)} KB`,
        `${(each(bytes) / 1024).toFixed(1)} KB`,
        `${((run.pages / cpuSecs) * 0.0036).toFixed(1)} million`,
      ],
    }
  }
  return [
    {
      title: 'Crawl on a fleet',
      note: `Pages that take ${pageMs} ms, ${pagesPerWorker} at once on each worker, ${pagesPerCrawl} for each worker.`,
      columns: ['pages/s', 'relative to one worker', 'processor time of a page'],
      rows: runs.map(row),
    },
    {
      title: 'Cost of a crawled page in Redis',
      note: 'Commands include those in scripts. The last column is what one Redis can process in an hour on one core, by its processor time.',
      columns: ['commands', 'processor time', 'network', 'memory kept', 'pages/h'],
      rows: runs.map(cost),
    },
  ]
}
