/** A crawl on one engine, for comparison with those of a fleet. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineConfig } from '../../src/core/config/config.ts'
import { type CrawlAnswer, crawlInput } from '../../src/core/shapes/crawl.ts'
import { createEngine } from '../../src/engine/index.ts'
import { callOf } from './call.ts'

export async function crawlAlone(
  input: Record<string, unknown>,
  config: Partial<EngineConfig> = {},
): Promise<CrawlAnswer> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-test-alone-'))
  const engine = createEngine({
    home: 'embedded',
    stateDir,
    cacheDir: join(stateDir, 'cache'),
    display: false,
    writeAnywhere: true,
    log: () => {},
    ...config,
  })
  try {
    return (await engine.crawls.crawl(crawlInput.parse({ ...input, async: false }), callOf())) as CrawlAnswer
  } finally {
    await engine.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}
