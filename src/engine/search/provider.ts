/** Interface of search providers. */
import {
  isByPages,
  type SearchAccess,
  type SearchProviderName,
  type searchProviders,
} from '../../core/config/search-providers.ts'
import type { ProxySettings } from '../../core/config/proxy-settings.ts'
import { limits } from '../../core/limits/limits.ts'
import type { SearchResult } from '../../core/shapes/search.ts'
import { treeFromHtml } from '../extract/html-tree.ts'
import { visibleText } from '../extract/tree.ts'
import type { OpenResults } from './result-document.ts'
import { squeeze } from '../../core/text/pieces.ts'

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

type Needs<Name extends SearchProviderName> = (typeof searchProviders)[Name]['needs'][number]

interface PageRequest<Name extends SearchProviderName> {
  /** Settings of the provider; the required ones are present. */
  readonly access: SearchAccess & Readonly<Required<Pick<SearchAccess, Needs<Name>>>>
  /** Opens a result page in a browser. */
  readonly open: OpenResults
  readonly signal: AbortSignal
  /** Proxies of requests to an API. */
  readonly proxies?: ProxySettings | undefined
  /** Token of the page that the previous one returned; absent for the first one. */
  readonly next?: string
}

/** A provider, as its file declares it. */
export interface ProviderDefinition<Name extends SearchProviderName = SearchProviderName> {
  readonly name: Name
  /** Returns one page of results. @throws BaxError, `provider_blocked` if blocked as a bot */
  page(question: SearchQuery, request: PageRequest<Name>): Promise<ResultPage>
}

export function defineProvider<Name extends SearchProviderName>(
  provider: ProviderDefinition<Name>,
): ProviderDefinition<Name> {
  return provider
}

/** A provider with its settings. */
export interface SearchProvider {
  readonly name: SearchProviderName
  /** Timeout of one page, in milliseconds. */
  readonly timeoutMs: number
  /** Returns the page for `next`, or the first one. @throws BaxError, `provider_blocked` if blocked as a bot */
  page(question: SearchQuery, signal: AbortSignal, next?: string): Promise<ResultPage>
}

/** Loads the definition of a provider that is set up. */
export async function loadProvider(
  name: SearchProviderName,
  access: SearchAccess,
  open: OpenResults,
  proxies?: ProxySettings,
): Promise<SearchProvider> {
  const { provider } = (await import(`./providers/${name}.ts`)) as { provider: ProviderDefinition }
  return {
    name,
    timeoutMs: isByPages(name) ? limits.search.pageMs : limits.search.apiMs,
    page: (question, signal, next) =>
      provider.page(question, { access: access as PageRequest<typeof name>['access'], open, signal, proxies, next }),
  }
}

/** Converts HTML such as `<strong>Go</strong> &amp; Rust`. */
export const textOfHtml = (value: unknown): string =>
  typeof value === 'string' ? squeeze(visibleText(treeFromHtml(value, 'about:blank').root)) : ''

/** Converts plain text; returns an empty string for other values. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? squeeze(value) : '')
