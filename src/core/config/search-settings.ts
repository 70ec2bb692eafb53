/** Settings of search providers: variables such as `BAX_BRAVE_KEY`, or `search` in the user's settings file. */
import { BaxError } from '../errors/errors.ts'
import { didYouMean } from '../errors/suggest.ts'
import { parseUrl } from '../net/parse-url.ts'
import {
  isSetUp,
  type SearchAccess,
  type SearchConfig,
  searchFields,
  searchNeeds,
  type SearchProviderName,
  searchProviderNames,
  searchVariable,
} from './search-providers.ts'
import type { Environment } from './setting.ts'

/** Reads the settings of all providers. @throws BaxError `invalid_request` with the name of the setting */
export function readSearch(env: Environment, file: unknown = {}): SearchConfig | undefined {
  const checkedFile = checked(file)
  const providers: Partial<Record<SearchProviderName, SearchAccess>> = {}
  for (const name of searchProviderNames) {
    const access = accessOf(name, env, checkedFile[name])
    if (Object.keys(access).length > 0) providers[name] = access
  }
  const order = orderOf(env['BAX_SEARCH_PROVIDERS'], checkedFile.providers)
  if (!order && Object.keys(providers).length === 0) return undefined
  const config = { providers, ...(order && { order }) }
  for (const name of order ?? []) if (!isSetUp(name, config)) throw needs(name, 'BAX_SEARCH_PROVIDERS names it')
  return config
}

type SearchFile = { readonly providers?: unknown } & Partial<Record<SearchProviderName, Record<string, unknown>>>

function checked(file: unknown): SearchFile {
  const known = [...searchProviderNames, 'providers']
  for (const [name, value] of Object.entries(file as object)) {
    if (!known.includes(name)) throw invalid(`unknown setting search.${name}${didYouMean(name, known)}`)
    if (name === 'providers') continue
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid(`search.${name} must be an object`)
    const own = searchFields(name as SearchProviderName)
    for (const [field, given] of Object.entries(value)) {
      const place = `search.${name}.${field}`
      if (!own.includes(field as keyof SearchAccess)) throw invalid(`unknown setting ${place}${didYouMean(field, own)}`)
      if (typeof given !== 'string') throw invalid(`${place} must be a string`)
    }
  }
  return file as SearchFile
}

function accessOf(name: SearchProviderName, env: Environment, file: Record<string, unknown> = {}): SearchAccess {
  const given = searchFields(name).flatMap((field) => {
    const value = env[searchVariable(name, field)] || file[field]
    return value ? [[field, field === 'url' ? checkedUrl(String(value), name) : String(value)]] : []
  })
  const access: SearchAccess = Object.fromEntries(given)
  // Incomplete settings are an error; missing ones mean that the provider is unused.
  if ((access.key ?? access.cx) !== undefined && !isSetUp(name, { providers: { [name]: access } })) throw needs(name)
  return access
}

function checkedUrl(text: string, name: SearchProviderName): string {
  if (/^https?:$/.test(parseUrl(text)?.protocol ?? '')) return text.replace(/\/+$/, '')
  throw invalid(`${searchVariable(name, 'url')} (search.${name}.url in the file) must be an http or https URL`)
}

function orderOf(text: string | undefined, file: unknown): SearchProviderName[] | undefined {
  const where = 'BAX_SEARCH_PROVIDERS (search.providers in the file)'
  const names = text
    ? text
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
    : file
  if (names === undefined) return undefined
  if (!Array.isArray(names) || names.length === 0) throw invalid(`${where} must be a list of providers`)
  for (const name of names) {
    if (!searchProviderNames.includes(name))
      throw invalid(
        `${where} names an unknown provider ${JSON.stringify(name)}${didYouMean(String(name), searchProviderNames)}`,
        `the providers are ${searchProviderNames.join(', ')}`,
      )
  }
  return names as SearchProviderName[]
}

function needs(name: SearchProviderName, why = 'its settings are incomplete'): BaxError {
  const missing = searchNeeds(name).map(
    (field) => `${searchVariable(name, field)} (search.${name}.${field} in the file)`,
  )
  return invalid(`the search provider ${name} needs ${missing.join(' and ')}: ${why}`)
}

const invalid = (message: string, hint?: string): BaxError =>
  new BaxError('invalid_request', message, { ...(hint && { hint }) })
