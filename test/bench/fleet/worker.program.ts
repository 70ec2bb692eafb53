/** One worker of a fleet that crawls, in a process of its own; ends with its parent. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../../../src/engine/index.ts'
import { CrawlWorker } from '../../../src/fleet/crawl/queue/worker.ts'
import { connectRedis } from '../../../src/fleet/redis/connect.ts'

const { url, pages, slots } = JSON.parse(process.argv[2]!) as { url: string; pages: number; slots: number }
const log = () => {}
const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
const engine = createEngine({
  home: 'embedded',
  stateDir,
  cacheDir: stateDir,
  display: false,
  writeAnywhere: true,
  log,
})
const redis = await connectRedis({ url, log })
await CrawlWorker.start({
  redis,
  log,
  keys: engine.keys,
  scraper: () => engine.extractor.load(),
  pages,
  build: 'source',
  workers: async () => [{ build: 'source', pages: slots }],
})
process.on('disconnect', () => process.exit(0))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!((user + system) / 1e6)
})
process.send!('ready')
