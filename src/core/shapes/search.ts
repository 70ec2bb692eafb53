/** Shapes of web searches (`spec: contract 9`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { searchProviderNames } from '../config/search-providers.ts'
import { scrapeData, scrapeMetadata, scrapeOptions, sender } from './scrape.ts'
import { identifier, integer, named, number } from './fields.ts'

const { search } = limits

// Results are on any host, so that headers and cookies of one are not for them. They are read at the same time.
const {
  formats: anyFormats,
  timeout: _,
  allowed_domains: _domains,
  headers: _headers,
  cookies: _cookies,
  save_profile: _save,
  location,
  ...pageOptions
} = scrapeOptions.shape
/** In Firecrawl, `location` is a text beside these options, and an object in `scrape_options`. */
const withLocation = { ...pageOptions, location }
/** Names of the options of a search that apply to the pages of its results. */
export const resultOptions = Object.keys(withLocation) as (keyof typeof withLocation)[]

const formats = anyFormats.unwrap().default([])

export const searchInput = z.object({
  query: z
    .string()
    .max(search.queryChars)
    .refine((text) => text.trim() !== '', { error: 'is required' })
    .describe('Search query'),
  limit: integer(1, search.maxResults).default(search.results).describe('Maximum number of results'),
  formats: formats.describe(
    'Formats to scrape each result in, as for scrape; when empty, results have no page content',
  ),
  session_id: identifier.optional().describe('Scrape the results in new tabs of this session, with its cookies'),
  provider: z
    .enum(searchProviderNames)
    .optional()
    .describe('Use only this provider; when omitted, all configured ones are tried until one succeeds'),
  lang: z
    .string()
    .regex(/^[a-z]{2,3}$/i, { error: 'must be a language code such as de' })
    .optional()
    .describe('Language of the results, e.g. de'),
  country: z
    .string()
    .regex(/^[a-z]{2}$/i, { error: 'must be a country code such as AT' })
    .optional()
    .describe('Country of the results, e.g. AT'),
  tbs: z
    .enum(['qdr:h', 'qdr:d', 'qdr:w', 'qdr:m', 'qdr:y'])
    .optional()
    .describe('Only results of the last hour, day, week, month or year'),
  timeout: number(1, search.maxTimeoutMs)
    .default(search.timeoutMs)
    .describe('Timeout for the whole search in milliseconds; results not scraped by then contain an error'),
  ...pageOptions,
  scrape_options: z
    .object({ ...withLocation, formats })
    .optional()
    .describe(
      'Scrape options in one object, as sent by Firecrawl clients; they replace the top-level ones, but those of an identity only if given',
    ),
  ...sender,
})

const searchMetadata = scrapeMetadata
  .extend({ code: z.string().optional().describe('Code of error') })
  .meta({ id: 'SearchMetadata' })

const searchResult = named('SearchResult', {
  url: z.string().describe('URL of the result, without tracking redirects'),
  title: z.string(),
  description: z.string().describe('Result snippet'),
  position: z.int().describe('Rank, starting at 1'),
  content: scrapeData
    .extend({ metadata: searchMetadata })
    .meta({ id: 'SearchContent' })
    .optional()
    .describe('The page, if formats were requested; metadata.error and metadata.code tell why it is missing'),
})

export const searchAnswer = named('SearchAnswer', {
  success: z.boolean(),
  data: z.array(searchResult).describe("Results in the provider's order; empty when it found nothing"),
  provider: z.enum(searchProviderNames).describe('Provider of the results'),
  warning: z.string().optional(),
})

export type SearchInput = z.output<typeof searchInput>
export type SearchResult = z.output<typeof searchResult>
export type SearchAnswer = z.output<typeof searchAnswer>
