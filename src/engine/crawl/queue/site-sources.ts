/** Reads the lists of pages that a site publishes: its sitemaps, then llms.txt. */
import type { LlmsEntry } from '../../../core/shapes/jobs/sources.ts'
import { sourcesOf } from '../plan.ts'
import { type JournalEntry, warning } from '../store/journal.ts'
import { type LlmsFacts, llmsOf } from './llms.ts'
import { sitemapUrls } from './sitemaps.ts'

export interface SiteQueue {
  /** Queues new URLs. */
  add(urls: readonly string[]): Promise<void>
  hasFound(url: string): boolean
}

/** Queues the URLs of a site; returns the journal lines about it, none if there was nothing to read. */
export async function readSources(facts: Omit<LlmsFacts, 'onWarning'>, queue: SiteQueue): Promise<JournalEntry[]> {
  const { plan, robots, origin } = facts
  const { sitemap, llms } = sourcesOf(plan.input)
  const warnings: JournalEntry[] = []
  const onWarning = (message: string) => void warnings.push(warning(message))
  if (sitemap) await readSitemaps({ ...facts, onWarning }, queue)
  const described = llms ? await readLlms({ ...facts, onWarning }, queue) : []
  if (!sitemap && described.length === 0 && warnings.length === 0) return []
  const isIncomplete = warnings.length > 0 || (sitemap && robots.isUnreadable(origin))
  const own = {
    sitemaps: true as const,
    ...(described.length > 0 && { llms: described }),
    ...(isIncomplete && { incomplete: true as const }),
  }
  return [...warnings, { type: 'crawl.found', data: { urls: [], depth: 1 }, own }]
}

async function readSitemaps(facts: LlmsFacts, { add }: SiteQueue): Promise<void> {
  const listed = await facts.robots.sitemapsOf(facts.origin)
  let count = 0
  for await (const urls of sitemapUrls({ ...facts, listed })) {
    count += urls.length
    await add(urls)
  }
  if (count === 0 && (facts.plan.input.sitemap === 'only' || listed.length > 0))
    facts.onWarning('no sitemap lists any URL')
}

/** Returns the entries of llms.txt, with the URLs under which they are queued. */
async function readLlms(facts: LlmsFacts, { add, hasFound }: SiteQueue): Promise<LlmsEntry[]> {
  const entries = await llmsOf(facts, hasFound)
  await add(entries.map(({ url }) => url))
  return entries
}
