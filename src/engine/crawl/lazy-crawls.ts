/** Loads the crawl module on first use. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Crawls } from '../../core/engine.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { EngineCrawls } from './crawls.ts'

export interface LazyCrawls extends Crawls {
  readonly count: number
  close(): Promise<void>
}

export function lazyCrawls(config: EngineConfig, scraper: LazyScraper, keys: KeyRing): LazyCrawls {
  const mostPages = config.crawlPages ?? (config.home === 'server' ? limits.crawl.serverPages : Infinity)
  let loading: Promise<EngineCrawls> | undefined
  let loaded: EngineCrawls | undefined
  const load = () =>
    (loading ??= import('./crawls.ts').then(({ EngineCrawls }) => {
      loaded = new EngineCrawls({ config, keys, mostPages, scraper: () => scraper.load() })
      return loaded
    }))
  return {
    mostPages,
    get count() {
      return loaded?.count ?? 0
    },
    crawl: async (input, call) => (await load()).crawl(input, call),
    list: async (options, call) => (await load()).list(options, call),
    get: async (part, call) => (await load()).get(part, call),
    usage: async (call) => (await load()).usage(call),
    accounts: async (id, call) => (await load()).accounts(id, call),
    cancel: async (id, call) => (await load()).cancel(id, call),
    resume: async (id, call) => (await load()).resume(id, call),
    follow: async (request, call) => (await load()).follow(request, call),
    map: async (input, call) => (await load()).map(input, call),
    close: async () => (await loading)?.close(),
  }
}
