/** The pages of results, scraped together and given in the results' order. */
import PQueue from 'p-queue'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type ScrapeAnswer, type ScrapeInput, scrapeInput } from '../../core/shapes/scrape.ts'
import type { SearchInput, SearchResult } from '../../core/shapes/search.ts'

type Content = NonNullable<SearchResult['content']>

/** What the pages are scraped with: the options of the search, or those in its `scrape_options`. */
export function scrapeWishes(input: SearchInput): Omit<ScrapeInput, 'url'> {
  const { formats, wait_for, json_options, only_main_content, remove_base64_images, render, max_age, block_ads, remove_overlays } = input.scrape_options ?? input // prettier-ignore
  const wishes = { wait_for, json_options, only_main_content, remove_base64_images, render, max_age, block_ads, remove_overlays } // prettier-ignore
  const { url: _, ...rest } = scrapeInput.parse({ url: 'about:blank' })
  return { ...rest, ...wishes, formats: formats.length > 0 ? formats : input.formats }
}

export interface ContentMeans {
  readonly scrape: (input: ScrapeInput, call: { readonly signal: AbortSignal }) => Promise<ScrapeAnswer>
  /** Pages at the same time. */
  readonly together: number
  readonly signal: AbortSignal
  /** `performance.now()` at which the time is up. */
  readonly deadline: number
}

/** One content for every address: a page that cannot be had is told of in its place. */
export async function contentsOf(
  addresses: readonly string[],
  wishes: Omit<ScrapeInput, 'url'>,
  means: ContentMeans,
): Promise<{ contents: Content[]; warnings: string[] }> {
  const queue = new PQueue({ concurrency: means.together })
  const outcomes = await Promise.all(addresses.map((url) => queue.add(() => contentOf({ ...wishes, url }, means))))
  means.signal.throwIfAborted()
  const contents = outcomes.map((outcome) => outcome!.content)
  return { contents, warnings: outcomes.flatMap((outcome) => outcome!.warning ?? []) }
}

async function contentOf(input: ScrapeInput, means: ContentMeans): Promise<{ content: Content; warning?: string }> {
  const { url } = input
  // The waits of a scrape come on top of its time.
  const left = Math.floor(means.deadline - performance.now() - input.wait_for)
  try {
    if (left < 1) throw new BaxError('timeout', 'the time of the search was over before it was scraped')
    const timeout = Math.min(left, limits.scrape.timeoutMs)
    const { data, warning, error, code } = await means.scrape({ ...input, timeout }, { signal: means.signal })
    if (!data) return { content: missing(url, error ?? 'the page could not be had', code ?? 'navigation_failed') }
    const { error: status } = data.metadata
    if (status) return { content: { ...data, metadata: { ...data.metadata, code: 'navigation_failed' } } }
    return { content: data, ...(warning && { warning: `${url}: ${warning}` }) }
  } catch (thrown) {
    const { message, code } = asBaxError(thrown)
    return { content: missing(url, message, code) }
  }
}

const missing = (sourceURL: string, error: string, code: string): Content => ({ metadata: { sourceURL, error, code } })
