/** Queries the providers in order until one returns results, and collects its pages of results. */
import { asBaxError, BaxError, type ProviderError } from '../../core/errors/errors.ts'
import {
  isByPages,
  isSetUp,
  type SearchConfig,
  type SearchProviderName,
  searchVariables,
  variablesOfApis,
} from '../../core/config/search-providers.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { ProviderResult, ResultPage, SearchProvider, SearchQuery } from './provider.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

export interface ProviderResults extends Collected {
  readonly provider: SearchProviderName
}

/** Signals that end a search early: the caller disconnected, or the search timed out. */
type SearchSignals = Readonly<Record<'caller' | 'clock', AbortSignal>>

/** Runs the search. @throws BaxError `search_unavailable` with the errors of all providers. */
export async function queryProviders(
  providers: readonly SearchProvider[],
  question: SearchQuery,
  { caller, clock }: SearchSignals,
): Promise<ProviderResults> {
  const failures: ProviderError[] = []
  const signal = AbortSignal.any([caller, clock])
  for (const provider of providers) {
    const { name } = provider
    try {
      clock.throwIfAborted()
      const { results, warnings } = await collect(provider, question, signal)
      return {
        provider: name,
        results,
        warnings: [...failures.map((failure) => `${failure.provider} failed: ${failure.error}`), ...warnings],
      }
    } catch (error) {
      caller.throwIfAborted()
      const { code, message } = asBaxError(clock.aborted ? clock.reason : error)
      // Internal errors are not failures of the provider.
      if (code === 'internal_error') throw error
      failures.push({ provider: name, error: message, code })
    }
  }
  const list = failures.map(({ provider, error }) => `${provider}: ${error}`).join('; ')
  const message = list ? `all search providers failed (${list})` : 'no search provider is set up'
  throw new BaxError('search_unavailable', message, { details: failures, hint: hintFor(failures) })
}

function hintFor(failures: readonly ProviderError[]): string {
  const usesPagesOnly = failures.every(({ provider }) => isByPages(provider as SearchProviderName))
  if (!usesPagesOnly) return 'run "bax doctor" to see which providers are set up'
  const setUp = `set up ${variablesOfApis(' with ')}`
  if (failures.some(({ code }) => code === 'browser_not_found'))
    return `install a browser with "bax setup", or ${setUp}`
  if (failures.some(({ code }) => code === 'provider_blocked')) return `result pages often block programs: ${setUp}`
  return `to use an API instead of result pages, ${setUp}`
}

/** @throws BaxError `invalid_request` if the requested provider is not configured. */
export function checkProvider(name: SearchProviderName, config: SearchConfig): void {
  if (isSetUp(name, config)) return
  throw new BaxError('invalid_request', `${name} is not set up in this engine`, {
    details: [{ path: 'provider', message: 'is not set up' }],
    hint: `set ${searchVariables(name).join(' and ')} where the engine is started`,
  })
}

interface Collected {
  /** Results with unwrapped URLs, without duplicates. */
  readonly results: readonly ProviderResult[]
  readonly warnings: readonly string[]
}

/** Placeholder base that identifies relative URLs, which are not valid results. */
const base = 'https://search.invalid'

/** Returns up to `question.limit` results. @throws BaxError if the first page fails; later errors are warnings */
export async function collect(provider: SearchProvider, question: SearchQuery, signal: AbortSignal) {
  const found = new Map<string, ProviderResult>()
  const warnings = new Set<string>()
  let next: string | undefined
  for (let page = 0; page < limits.search.pages; page++) {
    const before = found.size
    try {
      const { timeoutMs: ms } = provider
      const deadline = { ms, error: `it did not respond within ${ms / 1000} s`, signal, cooperative: true }
      const answer: ResultPage = await withDeadline((limit) => provider.page(question, limit, next), deadline)
      for (const { url, ...texts } of answer.results) {
        const unwrappedUrl = unwrapped(url, base)
        const key = unwrappedUrl?.replace(/#.*$/, '')
        if (unwrappedUrl !== undefined && key !== undefined && new URL(unwrappedUrl).origin !== base && !found.has(key))
          found.set(key, { url: unwrappedUrl, ...texts })
      }
      if (answer.warning) warnings.add(answer.warning)
      next = answer.next
    } catch (error) {
      if (page === 0 || signal.aborted || !(error instanceof BaxError)) throw error
      warnings.add(`${provider.name} returned only ${found.size} results: ${error.message}`)
      break
    }
    // A page without new results is the last one.
    if (next === undefined || found.size >= question.limit || found.size === before) break
  }
  return { results: [...found.values()].slice(0, question.limit), warnings: [...warnings] }
}

const maxDepth = 3

/** Returns the absolute target URL; undefined for advertisements and URLs that are not HTTP. */
export function unwrapped(address: string, base: string): string | undefined {
  let current = address
  for (let depth = 0; depth < maxDepth; depth++) {
    const url = parseUrl(current, base)
    if (!url) return undefined
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    if (isAdvertisement(url)) return undefined
    const inner = innerUrl(url)
    if (inner === undefined || !isHttpUrl(inner)) return url.href
    current = inner
  }
  return undefined
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && parseUrl(text) !== undefined

const duckduckgo = /(?:^|\.)duckduckgo\.com$/
const bing = /(?:^|\.)bing\.com$/
const google = /(?:^|\.)google\.(?:com|[a-z]{2,3})(?:\.[a-z]{2})?$/

/** Returns whether a URL is a paid click. */
const isAdvertisement = ({ hostname, pathname }: URL): boolean =>
  (duckduckgo.test(hostname) && pathname === '/y.js') ||
  (bing.test(hostname) && /^\/aclic?k/.test(pathname)) ||
  (google.test(hostname) && pathname === '/aclk')

function innerUrl({ hostname, pathname, searchParams }: URL): string | undefined {
  if (duckduckgo.test(hostname) && /^\/l\/?$/.test(pathname)) return searchParams.get('uddg') ?? undefined
  if (bing.test(hostname) && pathname === '/ck/a') {
    // `a1` followed by the URL in base64url.
    const text = searchParams.get('u')
    return text?.startsWith('a1') ? Buffer.from(text.slice(2), 'base64url').toString('utf8') : undefined
  }
  if (google.test(hostname) && pathname === '/url') return searchParams.get('q') ?? searchParams.get('url') ?? undefined
  return undefined
}
