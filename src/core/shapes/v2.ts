/** Shapes of /v2, which is compatible with Firecrawl's second API, in terms of bax's own shapes. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { crawlInput, crawlState, mapInput } from './crawl.ts'
import { identityFields } from './read/identity.ts'
import { scrapeData, scrapeInput, scrapeOptions, sender } from './scrape.ts'
import { searchInput } from './search.ts'
import { flag, identifier, integer, listOf, named, number } from './fields.ts'

const { crawl } = limits
const text = z.string().optional()

/** Scrape options for pages found by crawling. */
const pageOptions = z.object(scrapeOptions.shape)

export const scrapeInputV2 = scrapeInput

export const crawlInputV2 = z.object({
  url: crawlInput.shape.url,
  limit: crawlInput.shape.limit
    .unwrap()
    .optional()
    .describe("Maximum number of pages; the server's limit when omitted"),
  max_discovery_depth: crawlInput.shape.max_depth.unwrap().optional().describe('Link depth; unlimited by default'),
  include_paths: z
    .array(z.string().min(1).max(limits.crawl.globChars))
    .max(limits.crawl.globs)
    .default([])
    .describe('Regular expressions that match anywhere in the path; all paths when empty'),
  exclude_paths: z
    .array(z.string().min(1).max(limits.crawl.globChars))
    .max(limits.crawl.globs)
    .default([])
    .describe('Regular expressions of paths to exclude; they take precedence'),
  crawl_entire_domain: flag("Also follow links to pages outside the start page's path"),
  allow_subdomains: crawlInput.shape.allow_subdomains,
  allow_external_links: crawlInput.shape.allow_external_links,
  allowed_domains: crawlInput.shape.allowed_domains,
  sitemap: mapInput.shape.sitemap,
  ignore_robots_txt: crawlInput.shape.ignore_robots,
  site_memory: crawlInput.shape.site_memory,
  max_concurrency: z.int().min(1).optional().describe(`Number of concurrent pages, at most ${crawl.mostAtOnce}`),
  scrape_options: pageOptions.optional().describe('Scrape options for each page'),
  webhook: crawlInput.shape.webhook,
  ...sender,
})

export const crawlPartV2 = z.object({
  id: identifier.describe('Crawl ID, in its original form or as a UUID'),
  skip: z.int().min(0).default(0).describe('Number of pages to skip'),
  limit: integer(0, crawl.mostListedPages).default(crawl.listedPages).describe('Maximum number of pages'),
})

export const mapInputV2 = z.object({
  url: mapInput.shape.url,
  search: mapInput.shape.search,
  sitemap: mapInput.shape.sitemap,
  include_subdomains: mapInput.shape.allow_subdomains,
  ignore_query_parameters: flag('Treat URLs that differ only in their query as one'),
  limit: mapInput.shape.limit,
  ...identityFields,
  session_id: mapInput.shape.session_id,
  allowed_domains: mapInput.shape.allowed_domains,
  timeout: number(1, crawl.mostSecs * 1000)
    .default(crawl.mapSecs * 1000)
    .describe('Timeout in milliseconds; URLs discovered by then are listed'),
  ...sender,
})

const host = z
  .string()
  .max(255, { abort: true })
  .regex(/^[\w.*-]+$/, { error: 'must be a host name' })
const sourceName = z.string().max(limits.input.nameChars)
const source = z.union([sourceName, z.object({ type: sourceName })])

export const searchInputV2 = z.object({
  query: searchInput.shape.query,
  limit: searchInput.shape.limit,
  sources: listOf(source).default(['web']).describe('Sources to search: web; others are reported in `warning`'),
  include_domains: listOf(host).default([]).describe('Hosts to include results from'),
  exclude_domains: listOf(host).default([]).describe('Hosts to exclude results from'),
  tbs: searchInput.shape.tbs,
  country: searchInput.shape.country,
  lang: searchInput.shape.lang,
  timeout: searchInput.shape.timeout,
  scrape_options: searchInput.shape.scrape_options
    .unwrap()
    .extend({ formats: scrapeOptions.shape.formats })
    .optional()
    .describe('Scrape options for each result'),
  ...sender,
})

const metadata = z
  .looseObject({
    title: text,
    description: text,
    sourceURL: z.string().describe('URL as requested'),
    url: text.describe('URL after all redirects'),
    statusCode: z.int().optional(),
    error: text,
    contentType: text,
    language: text,
    scrapeId: text,
  })
  .meta({ id: 'MetadataV2', description: 'Metadata of /v1 with camelCase names' })

const { html, markdown, rawHtml, json, summary, branding, changeTracking, product, attributes } = scrapeData.shape

/** One page. */
const documentV2 = named('DocumentV2', {
  markdown,
  html,
  rawHtml,
  json,
  summary,
  branding,
  changeTracking,
  product,
  attributes,
  screenshot: text.describe('PNG, as a data: URL'),
  links: z.array(z.string()).optional(),
  images: z.array(z.string()).optional(),
  actions: z
    .object({
      screenshots: z.array(z.string()).describe('PNG, as data: URLs'),
      scrapes: z.array(z.object({ url: z.string(), html: z.string() })),
      javascriptReturns: z.array(z.object({ type: z.string(), value: z.unknown() })),
    })
    .optional(),
  warning: text,
  metadata,
})

export const scrapeAnswerV2 = named('ScrapeAnswerV2', {
  success: z.boolean(),
  data: documentV2.optional(),
  warning: text,
  error: text,
  code: text,
})

export const crawlAcceptedV2 = named('CrawlAcceptedV2', {
  success: z.boolean(),
  id: z.string().describe('UUID'),
  url: z.string().describe('URL of this crawl'),
})

export const crawlStateV2 = named('CrawlStateV2', {
  success: z.boolean().describe('Always true for a known crawl; see `status` for its state'),
  id: z.string(),
  status: crawlState.shape.status,
  total: crawlState.shape.total,
  completed: crawlState.shape.completed,
  expiresAt: z.iso.datetime(),
  next: crawlState.shape.next,
  data: z.array(documentV2),
  warning: text,
  error: text,
  code: text,
})

export const crawlErrorsV2 = named('CrawlErrorsV2', {
  success: z.boolean(),
  errors: z.array(z.object({ id: z.string(), url: z.string(), code: z.string(), error: z.string() })),
  robotsBlocked: z.array(z.string()),
})

export const mapAnswerV2 = named('MapAnswerV2', {
  success: z.boolean(),
  links: z.array(z.object({ url: z.string(), title: text, description: text })),
  warning: text,
  error: text,
  code: text,
})

const found = z
  .object({
    ...documentV2.shape,
    metadata: metadata.optional(),
    url: z.string(),
    title: z.string(),
    description: z.string(),
    position: z.int(),
  })
  .meta({ id: 'FoundV2', description: 'A search result, with the fields of its page if it was scraped' })

export const searchAnswerV2 = named('SearchAnswerV2', {
  success: z.boolean(),
  data: z.object({ web: z.array(found).optional() }),
  warning: text,
})

export type CrawlInputV2 = z.output<typeof crawlInputV2>
export type DocumentV2 = z.output<typeof documentV2>
export type SearchInputV2 = z.output<typeof searchInputV2>
