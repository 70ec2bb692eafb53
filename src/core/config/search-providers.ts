/** The search providers and their required settings. */

/** Provider names, in their default order. */
export const searchProviderNames = ['searxng', 'brave', 'serper', 'google', 'duckduckgo', 'bing'] as const
export type SearchProviderName = (typeof searchProviderNames)[number]

/** Access to a search provider. */
export interface SearchAccess {
  /** URL, when it is not the default one. */
  readonly url?: string
  readonly key?: string
  /** Identifier of a Google search engine. */
  readonly cx?: string
}

export interface SearchConfig {
  /** Providers in the order in which to query them; all configured ones in their default order when absent. */
  readonly order?: readonly SearchProviderName[]
  readonly providers?: Readonly<Partial<Record<SearchProviderName, SearchAccess>>>
}

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
