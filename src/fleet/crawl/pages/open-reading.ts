/** Opens what a worker reads the pages of a crawl with: their plan, and the crawl to compare with. */
import { BaxError } from '../../../core/errors/errors.ts'
import { EarlierPages } from '../../../engine/crawl/earlier.ts'
import { type CrawlPlan, planCrawl } from '../../../engine/crawl/plan.ts'
import type { CrawlRequest } from '../../../engine/crawl/store/journal.ts'
import type { OpenedIdentity } from '../../../engine/scrape/identity/open-identity.ts'
import type { PageScraper } from '../../../engine/scrape/scraper.ts'
import type { FleetCrawlStore } from '../store/store.ts'

interface Reading {
  readonly plan: CrawlPlan
  readonly earlier?: EarlierPages | undefined
  /** Saves changed cookies to the profile, if that is requested. */
  readonly saveIdentity?: OpenedIdentity['save'] | undefined
  /** Error of a crawl that cannot be opened, for example because its profile was deleted meanwhile. */
  readonly failure?: BaxError
}

export async function openReading(
  { input, owner = null }: Pick<CrawlRequest, 'input' | 'owner'>,
  { store, scraper }: { readonly store: Pick<FleetCrawlStore, 'read'>; readonly scraper: PageScraper },
): Promise<Reading> {
  try {
    const opened = await scraper.identities.unseal(input)
    const plan = planCrawl(input, owner, opened?.identity)
    const earlier = input.since === undefined ? undefined : await EarlierPages.open(await store.read(input.since))
    return { plan, earlier, saveIdentity: opened?.save }
  } catch (error) {
    if (!(error instanceof BaxError) || error.retryable) throw error
    return { plan: planCrawl(input, owner), failure: error }
  }
}
