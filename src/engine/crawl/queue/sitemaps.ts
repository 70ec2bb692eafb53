/** Reads the sitemaps of a site, with limits on their number, size, depth and time. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RunFacts } from '../run-facts.ts'
import { readSitemap, type SitemapEntry } from './sitemap-file.ts'

const { crawl } = limits

export interface SitemapFacts extends Pick<RunFacts, 'egress' | 'answers'> {
  readonly listed: readonly string[]
  readonly origin: string
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

/** Yields the URLs of pages in the order of the files, in chunks. Errors of a file are reported as warnings. */
export async function* sitemapUrls(facts: SitemapFacts): AsyncGenerator<string[]> {
  const { listed, origin, signal, onWarning } = facts
  const defaultUrl = `${origin}/sitemap.xml`
  const deadline = AbortSignal.timeout(crawl.sitemapsMs)
  const queue = (listed.length > 0 ? [...listed] : [defaultUrl]).map((url) => ({ url, depth: 0 }))
  const known = new Set(queue.map(({ url }) => url))
  // Sitemaps in sitemaps are added to the queue meanwhile.
  for (const { url, depth } of queue) {
    const late = AbortSignal.timeout(crawl.sitemapMs)
    try {
      for await (const entries of entriesOf(url, facts, AbortSignal.any([signal, deadline, late]))) {
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
      if (deadline.aborted) return onWarning('timed out reading the sitemaps')
      // The default location need not exist; applications answer every URL with their start page.
      if (url === defaultUrl && listed.length === 0 && (error as BaxError).code === 'navigation_failed') return
      onWarning(`sitemap ${url} could not be read completely: ${late.aborted ? 'timed out' : (error as Error).message}`)
    }
  }
  if (known.size >= crawl.sitemaps) onWarning(`only the first ${crawl.sitemaps} sitemaps were read`)
}

/** Yields the entries of one sitemap, which is cached once it has been read completely. */
async function* entriesOf(
  url: string,
  { answers, egress }: SitemapFacts,
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
    if (error instanceof BaxError && permanent.has(error.code)) answers.keepSite(url, { error: error.toBody() })
    throw error
  }
  answers.keepSite(url, { entries: all })
}

/** Errors that a retry would not fix. */
const permanent: ReadonlySet<string> = new Set([
  'navigation_failed',
  'too_many_redirects',
  'content_too_large',
  'unsupported_content_type',
])
