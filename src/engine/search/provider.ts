/** Interface of search providers. */
import type { SearchProviderName } from '../../core/config/search-providers.ts'

/** The last hour, day, week, month or year. */
export type Period = 'h' | 'd' | 'w' | 'm' | 'y'

export interface SearchQuery {
  readonly query: string
  readonly limit: number
  /** Language code in lower case. */
  readonly lang?: string
  /** Country code in lower case. */
  readonly country?: string
  readonly period?: Period
}

/** A result of a provider. The URL may be wrapped in a tracking URL; the texts are plain. */
export interface ProviderResult {
  readonly url: string
  readonly title: string
  readonly description: string
}

export interface ResultPage {
  /** Results; empty only if nothing was found, as providers that cannot search throw. */
  readonly results: readonly ProviderResult[]
  /** Token for the next page; absent on the last one. */
  readonly next?: string
  /** Part of the query that the provider does not support. */
  readonly warning?: string
}

/** Returns whether another page is likely to follow, for providers that do not report it. */
export const isFull = ({ length }: readonly ProviderResult[]): boolean => length >= 5

export interface SearchProvider {
  readonly name: SearchProviderName
  /** Timeout of one page, in milliseconds. */
  readonly timeoutMs: number
  /** Returns the page for `next`, or the first one. @throws BaxError, `provider_blocked` if blocked as a bot */
  page(question: SearchQuery, signal: AbortSignal, next?: string): Promise<ResultPage>
}
