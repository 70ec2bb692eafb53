/** Crawls the site with bax like `bax crawl`: pages are written to disk and received as a stream. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crawlInput } from '../../../src/core/shapes/crawl.ts'
import type { ScrapeData } from '../../../src/core/shapes/scrape.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { call } from '../engines.ts'
import type { PeerFacts } from './peers.ts'
import type { Tally } from './tally.ts'

interface PageEvent {
  readonly data: { readonly page: ScrapeData; readonly replaces?: boolean }
}

export type BaxMode = 'auto' | 'browser'

export async function crawlWithBax(render: BaxMode, { url, plan }: PeerFacts, tally: Tally): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const engine = createEngine({
    home: 'embedded',
    stateDir,
    cacheDir: join(stateDir, 'cache'),
    display: false,
    writeAnywhere: true,
    log: () => {},
  })
  const input = { url, render, limit: plan.pages + 10, max_depth: 9, timeout_secs: 3600, async: true }
  try {
    tally.begin()
    const { id } = await engine.crawls.crawl(crawlInput.parse(input), call)
    const events = await engine.crawls.follow({ id, since: 0, types: ['crawl.page'] }, { ...call, since: undefined })
    for await (const event of events!) {
      if (event.type !== 'crawl.page') continue
      const { page, replaces } = (event as unknown as PageEvent).data
      tally.page(page.metadata.url!, page.markdown!, { again: replaces === true })
    }
    tally.end()
  } finally {
    await engine.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}
