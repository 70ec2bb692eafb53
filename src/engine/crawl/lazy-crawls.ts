/** Loads the crawl module on first use. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Crawls } from '../../core/engine.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { LocalCrawlHost } from './local/host.ts'

export interface LazyCrawls extends Crawls {
  readonly map: (...request: Parameters<LocalCrawlHost['map']>) => ReturnType<Crawls['map']>
  readonly count: number
  close(): Promise<void>
}

export function lazyCrawls(config: EngineConfig, scraper: LazyScraper, keys: KeyRing): LazyCrawls {
  const mostPages = config.crawlPages ?? (config.home === 'server' ? limits.crawl.serverPages : Infinity)
  let host: LocalCrawlHost | undefined
  const open = async () => {
    const [{ CrawlService }, { LocalCrawlHost }] = await Promise.all([import('./crawls.ts'), import('./local/host.ts')])
    host = new LocalCrawlHost({ config, keys, mostPages, scraper: () => scraper.load() })
    return { host, service: new CrawlService(host) }
  }
  let loading: ReturnType<typeof open> | undefined
  const load = () => (loading ??= open())
  const service = async () => (await load()).service
  return {
    mostPages,
    get count() {
      return host?.count ?? 0
    },
    crawl: async (input, call) => (await service()).crawl(input, call),
    list: async (options, call) => (await service()).list(options, call),
    get: async (part, call) => (await service()).get(part, call),
    usage: async (call) => (await service()).usage(call),
    accounts: async (id, call) => (await service()).accounts(id, call),
    cancel: async (id, call) => (await service()).cancel(id, call),
    resume: async (id, call) => (await service()).resume(id, call),
    follow: async (request, call) => (await service()).follow(request, call),
    map: async (...request) => (await load()).host.map(...request),
    close: async () => (await loading)?.host.close(),
  }
}
