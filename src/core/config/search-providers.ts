/** The search providers by name, and which of them can be asked. */
import type { SearchAccess, SearchConfig } from './config.ts'

/** In the order in which they are asked unless another one is configured. */
export const searchProviderNames = ['searxng', 'brave', 'serper', 'google', 'duckduckgo', 'bing'] as const
export type SearchProviderName = (typeof searchProviderNames)[number]

/** What a provider must be told before it can be asked; the result pages of the last two need nothing. */
export const searchNeeds: Readonly<Record<SearchProviderName, readonly (keyof SearchAccess)[]>> = {
  searxng: ['url'],
  brave: ['key'],
  serper: ['key'],
  google: ['key', 'cx'],
  duckduckgo: [],
  bing: [],
}

/** Whether a provider has been told what it needs. */
export const isSetUp = (name: SearchProviderName, { providers = {} }: SearchConfig): boolean =>
  searchNeeds[name].every((need) => providers[name]?.[need] !== undefined)

/** The providers that a search asks, one after the other until one answers. */
export const searchOrder = (config: SearchConfig): SearchProviderName[] =>
  (config.order ?? searchProviderNames).filter((name) => isSetUp(name, config))
