/** The search providers and their required settings. */
import type { SearchAccess, SearchConfig } from './config.ts'

/** Provider names, in their default order. */
export const searchProviderNames = ['searxng', 'brave', 'serper', 'google', 'duckduckgo', 'bing'] as const
export type SearchProviderName = (typeof searchProviderNames)[number]

/** Settings that a provider requires; the result pages of the last two require none. */
export const searchNeeds: Readonly<Record<SearchProviderName, readonly (keyof SearchAccess)[]>> = {
  searxng: ['url'],
  brave: ['key'],
  serper: ['key'],
  google: ['key', 'cx'],
  duckduckgo: [],
  bing: [],
}

/** Returns whether all required settings of a provider are present. */
export const isSetUp = (name: SearchProviderName, { providers = {} }: SearchConfig): boolean =>
  searchNeeds[name].every((need) => providers[name]?.[need] !== undefined)

/** Returns the providers to query, one after the other until one succeeds. */
export const searchOrder = (config: SearchConfig): SearchProviderName[] =>
  (config.order ?? searchProviderNames).filter((name) => isSetUp(name, config))
