/** Scrapes the pages of results concurrently, in the order of the results. */
import PQueue from 'p-queue'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { identityIn, isIdentityField } from '../../core/identity.ts'
import { limits } from '../../core/limits/limits.ts'
import { pick } from '../../core/pick.ts'
import { type ScrapeAnswer, type ScrapeInput, scrapeInput } from '../../core/shapes/scrape.ts'
import { resultOptions, type SearchInput, type SearchResult } from '../../core/shapes/search.ts'

type Content = NonNullable<SearchResult['content']>

/**
 * Returns the scrape options of a search: its own, or those in `scrape_options`. An identity beside `scrape_options` is
 * kept, unless it is replaced there.
 */
export function scrapeOptions(input: SearchInput): Omit<ScrapeInput, 'url'> {
  const own: NonNullable<SearchInput['scrape_options']> = input.scrape_options ?? input
  const { url: _, ...rest } = scrapeInput.parse({ url: 'about:blank' })
  const replaced: Readonly<Record<string, unknown>> = own
  const beside = Object.entries(identityIn(input)).filter(
    ([name, value]) => isIdentityField(name, value) && !isIdentityField(name, replaced[name]),
  )
  return {
    ...rest,
    ...pick(own, resultOptions),
    ...Object.fromEntries(beside),
    formats: own.formats.length > 0 ? own.formats : input.formats,
  }
}

export interface ScrapeContext {
  readonly scrape: (input: ScrapeInput, call: { readonly signal: AbortSignal }) => Promise<ScrapeAnswer>
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Deadline, as a `performance.now()` time. */
  readonly deadline: number
}

/** Returns the content of each URL, with an error in place of pages that fail. */
export async function contentsOf(urls: readonly string[], options: Omit<ScrapeInput, 'url'>, context: ScrapeContext) {
  const queue = new PQueue({ concurrency: context.concurrency })
  const outcomes = await Promise.all(urls.map((url) => queue.add(() => contentOf({ ...options, url }, context))))
  context.signal.throwIfAborted()
  const scraped = outcomes.filter((outcome) => outcome !== undefined)
  return {
    contents: scraped.map(({ content }) => content),
    warnings: scraped.flatMap(({ warning }) => warning ?? []),
  }
}

async function contentOf(input: ScrapeInput, context: ScrapeContext): Promise<{ content: Content; warning?: string }> {
  const { url } = input
  // `wait_for` is not part of the timeout of a scrape.
  const left = Math.floor(context.deadline - performance.now() - input.wait_for)
  try {
    if (left < 1) throw new BaxError('timeout', 'the search timed out before the page was scraped')
    const timeout = Math.min(left, limits.scrape.timeoutMs)
    const { data, warning, error, code } = await context.scrape({ ...input, timeout }, { signal: context.signal })
    if (!data)
      return { content: failedContent(url, error ?? 'the page could not be loaded', code ?? 'navigation_failed') }
    const { error: status } = data.metadata
    if (status) return { content: { ...data, metadata: { ...data.metadata, code: 'navigation_failed' } } }
    return { content: data, ...(warning && { warning: `${url}: ${warning}` }) }
  } catch (thrown) {
    const { message, code } = asBaxError(thrown)
    return { content: failedContent(url, message, code) }
  }
}

const failedContent = (sourceURL: string, error: string, code: string): Content => ({
  metadata: { sourceURL, error, code },
})
