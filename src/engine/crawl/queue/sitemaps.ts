/** The sitemaps of a site, one after the other, with bounds on their number, size, depth and time. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Egress } from '../../egress/egress.ts'
import type { KeptAnswers } from '../store/kept-responses.ts'
import { readSitemap, type SitemapEntry } from './sitemap-file.ts'

const { crawl } = limits

export interface SitemapFacts {
  /** Where robots.txt says they are. */
  readonly told: readonly string[]
  readonly origin: string
  readonly egress: Egress
  readonly answers: KeptAnswers
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

/** Addresses of pages in the order of the files, by the chunk; whatever is wrong with a file is a warning. */
export async function* sitemapAddresses(facts: SitemapFacts): AsyncGenerator<string[]> {
  const { told, origin, signal, onWarning } = facts
  const guess = `${origin}/sitemap.xml`
  const clock = AbortSignal.timeout(crawl.sitemapsMs)
  const queue = (told.length > 0 ? [...told] : [guess]).map((url) => ({ url, depth: 0 }))
  const known = new Set(queue.map(({ url }) => url))
  for (let at = 0; at < queue.length; at++) {
    const { url, depth } = queue[at]!
    const late = AbortSignal.timeout(crawl.sitemapMs)
    try {
      for await (const entries of entriesOf(url, facts, AbortSignal.any([signal, clock, late]))) {
        for (const entry of entries) {
          if (!entry.isSitemap || known.has(entry.url) || depth >= crawl.sitemapDepth) continue
          if (known.size >= crawl.sitemaps) continue
          known.add(entry.url)
          queue.push({ url: entry.url, depth: depth + 1 })
        }
        yield entries.filter(({ isSitemap }) => !isSitemap).map((entry) => entry.url)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (clock.aborted) return onWarning('the sitemaps were not read to their end: it took too long')
      // Nobody said that there is one.
      if (url === guess && told.length === 0 && (error as BaxError).code === 'navigation_failed') return
      onWarning(
        `sitemap ${url} was not read to its end: ${late.aborted ? 'it took too long' : (error as Error).message}`,
      )
    }
  }
  if (known.size >= crawl.sitemaps) onWarning(`only the first ${crawl.sitemaps} sitemaps were read`)
}

/** The entries of one sitemap, which is kept when it has been read to its end. */
async function* entriesOf(
  url: string,
  { answers, egress }: Pick<SitemapFacts, 'answers' | 'egress'>,
  signal: AbortSignal,
): AsyncGenerator<readonly SitemapEntry[]> {
  const kept = answers.site(url) as { entries: SitemapEntry[] } | { error: unknown } | undefined
  if (kept && 'error' in kept) throw BaxError.fromBody(kept.error)
  if (kept) return yield kept.entries
  const all: SitemapEntry[] = []
  try {
    for await (const entries of readSitemap(url, { egress, signal })) {
      all.push(...entries)
      yield entries
    }
  } catch (error) {
    if (error instanceof BaxError && lasting.has(error.code)) answers.keepSite(url, { error: error.toBody() })
    throw error
  }
  answers.keepSite(url, { entries: all })
}

/** Failures that the next try would meet again. */
const lasting: ReadonlySet<string> = new Set(['navigation_failed', 'too_many_redirects', 'content_too_large', 'unsupported_content_type']) // prettier-ignore
