/** The search providers, and the settings that each needs. */

/** Access to a search provider. */
export interface SearchAccess {
  /** URL, when it is not the default one. */
  readonly url?: string
  readonly key?: string
  /** Identifier of a Google search engine. */
  readonly cx?: string
}

interface Provider {
  /** Required settings; without any, the provider is read by its result pages. Every provider accepts a `url`. */
  readonly needs: readonly (keyof SearchAccess)[]
  /** Kind of access, for the guide. */
  readonly kind: string
}

const resultPages = 'result pages, in a browser; they often reject programs'

/** Providers in their default order. `src/engine/search/providers/<name>.ts` defines each. */
export const searchProviders = {
  searxng: { needs: ['url'], kind: 'JSON (`search.formats` in its settings must contain `json`)' },
  brave: { needs: ['key'], kind: 'API' },
  serper: { needs: ['key'], kind: 'API' },
  google: { needs: ['key', 'cx'], kind: 'Custom Search API' },
  duckduckgo: { needs: [], kind: resultPages },
  bing: { needs: [], kind: resultPages },
} as const satisfies Readonly<Record<string, Provider>>

export type SearchProviderName = keyof typeof searchProviders

export const searchProviderNames = Object.keys(searchProviders) as SearchProviderName[]

export interface SearchConfig {
  /** Providers in the order in which to query them; all configured ones in their default order when absent. */
  readonly order?: readonly SearchProviderName[]
  readonly providers?: Readonly<Partial<Record<SearchProviderName, SearchAccess>>>
}

/** Returns the required settings of a provider. */
export const searchNeeds = (name: SearchProviderName): readonly (keyof SearchAccess)[] => searchProviders[name].needs

/** Returns whether a provider is read by its result pages, without an API. */
export const isByPages = (name: SearchProviderName): boolean => searchNeeds(name).length === 0

/** Returns the settings that a provider accepts; each one is also an environment variable. */
export const searchFields = (name: SearchProviderName): (keyof SearchAccess)[] => [
  ...new Set([...searchNeeds(name), 'url' as const]),
]

export const searchVariable = (name: SearchProviderName, field: keyof SearchAccess): string =>
  `BAX_${name}_${field}`.toUpperCase()

/** Returns the variables that a provider requires. */
export const searchVariables = (name: SearchProviderName): string[] =>
  searchNeeds(name).map((field) => searchVariable(name, field))

/** Lists the variables of all APIs as alternatives; `and` joins those of one API. */
export function variablesOfApis(and: string): string {
  const apis = searchProviderNames.filter((name) => !isByPages(name)).map((name) => searchVariables(name).join(and))
  return `${apis.slice(0, -1).join(', ')}, or ${apis.at(-1)}`
}

/** Returns whether all required settings of a provider are present. */
export const isSetUp = (name: SearchProviderName, { providers = {} }: SearchConfig): boolean =>
  searchNeeds(name).every((need) => providers[name]?.[need] !== undefined)

/** Returns the providers to query, one after the other until one succeeds. */
export const searchOrder = (config: SearchConfig): SearchProviderName[] =>
  (config.order ?? searchProviderNames).filter((name) => isSetUp(name, config))
