/** Interface of search providers. */
import type { SearchProviderName } from '../../core/config/search-providers.ts'
import type { SearchResult } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import { visibleText } from '../extract/tree.ts'

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
export type ProviderResult = Readonly<Pick<SearchResult, 'url' | 'title' | 'description'>>

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

/** Converts HTML such as `<strong>Go</strong> &amp; Rust`. */
export const textOfHtml = (value: unknown): string =>
  typeof value === 'string' ? oneLine(visibleText(treeFromHtml(value, 'about:blank').root)) : ''

/** Converts plain text; returns an empty string for other values. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? oneLine(value) : '')

/** Collapses all white space, including no-break spaces. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
