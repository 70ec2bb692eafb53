/** Data shapes of searching the web (`spec: contract 9`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { searchProviderNames } from '../config/search-providers.ts'
import { scrapeData, scrapeMetadata, scrapeOptions, sender } from './scrape.ts'
import { identifier } from './text.ts'

const { search } = limits

const { formats: anyFormats, timeout: _, ...pageOptions } = scrapeOptions.shape
const formats = anyFormats.unwrap().default([])

export const searchInput = z.object({
  query: z
    .string()
    .max(search.queryChars)
    .refine((text) => text.trim() !== '', { error: 'is required' })
    .describe('Search query'),
  limit: z.int().min(1).max(search.maxResults).default(search.results).describe('Maximum results'),
  formats: formats.describe(
    'Each result is scraped in these formats, those of scraping; empty gives the results without their pages',
  ),
  session_id: identifier.optional().describe('Scrape the results in new tabs of this session, with its cookies'),
  provider: z
    .enum(searchProviderNames)
    .optional()
    .describe('Ask this provider and no other; without it all that are set up, until one answers'),
  lang: z
    .string()
    .regex(/^[a-z]{2,3}$/i, { error: 'must be a language code such as de' })
    .optional()
    .describe('Language of the results, e.g. de'),
  country: z
    .string()
    .regex(/^[a-z]{2}$/i, { error: 'must be a country code such as AT' })
    .optional()
    .describe('Country whose results are wanted, e.g. AT'),
  tbs: z
    .enum(['qdr:h', 'qdr:d', 'qdr:w', 'qdr:m', 'qdr:y'])
    .optional()
    .describe('Only results of the last hour, day, week, month or year'),
  timeout: z
    .number()
    .min(1)
    .max(search.maxTimeoutMs)
    .default(search.timeoutMs)
    .describe('Milliseconds for the whole search; results whose pages are not there by then come with an error'),
  ...pageOptions,
  scrape_options: z
    .object({ ...pageOptions, formats })
    .optional()
    .describe("Options of scraping in one object, as Firecrawl's clients send them; they replace those beside it"),
  ...sender,
})

const searchMetadata = scrapeMetadata
  .extend({ code: z.string().optional().describe('Stands beside error') })
  .meta({ id: 'SearchMetadata' })

const searchResult = z
  .object({
    url: z.string().describe('Result address, without tracking around it'),
    title: z.string(),
    description: z.string().describe('Result snippet'),
    position: z.int().describe('Rank, starting at 1'),
    content: scrapeData
      .extend({ metadata: searchMetadata })
      .meta({ id: 'SearchContent' })
      .optional()
      .describe('The page, when formats were asked for; metadata.error and metadata.code say why it is missing'),
  })
  .meta({ id: 'SearchResult' })

export const searchAnswer = z
  .object({
    success: z.boolean(),
    data: z.array(searchResult).describe('In the order of the provider; empty when it found nothing'),
    provider: z.enum(searchProviderNames).describe('Who answered'),
    warning: z.string().optional(),
  })
  .meta({ id: 'SearchAnswer' })

export type SearchInput = z.output<typeof searchInput>
export type SearchResult = z.output<typeof searchResult>
export type SearchAnswer = z.output<typeof searchAnswer>
