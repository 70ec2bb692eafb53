/** Data shapes of crawling: what is asked of a site, and what comes back (`spec: contract 8`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { scrapeData, scrapeOptions, sender, warned } from './scrape.ts'
import { urlText } from './text.ts'

const { crawl } = limits
const { formats, wait_for, json_options, only_main_content, remove_base64_images, render, block_ads, remove_overlays } =
  scrapeOptions.shape

const crawlStatuses = ['scraping', 'completed', 'failed', 'cancelled'] as const

/** Why a known address was not visited, or its page is not in `data`. */
const skipReasons = [
  'excluded',
  'off_host',
  'too_long',
  'max_depth',
  'limit',
  'redirect_duplicate',
  'out_of_time',
  'cancelled',
] as const

const start = urlText.describe('Start page; https:// when it has no scheme, http:// on loopback hosts')
const depth = z.int().describe('Links away from the start page')
const counter = z.int().min(0)

/** Which addresses of a site belong to it, and how it is treated. */
const scope = {
  include_paths: z
    .array(z.string().min(1).max(crawl.globChars))
    .max(crawl.globs)
    .default([])
    .describe('Globs of decoded paths, e.g. /docs/** (which also matches /docs); all paths when there is none'),
  exclude_paths: z
    .array(z.string().min(1).max(crawl.globChars))
    .max(crawl.globs)
    .default([])
    .describe('Globs of paths to leave out; they win'),
  path_syntax: z
    .enum(['glob', 'regex'])
    .optional()
    .describe('How these paths are written: globs of whole paths, or regular expressions found anywhere in them'),
  below_start: z.boolean().default(false).describe("Only pages below the start page's path"),
  allow_subdomains: z.boolean().default(false).describe("Follow links to subdomains of the start page's host too"),
  ignore_robots: z.boolean().default(false).describe('Do not ask robots.txt'),
  concurrency: z
    .int()
    .min(1)
    .max(crawl.mostAtOnce)
    .optional()
    .describe("Pages at the same time; found by the machine's load when not given. The result is the same"),
}

const siteMap = (usual: 'skip' | 'include') =>
  z
    .enum(['skip', 'include', 'only'])
    .default(usual)
    .describe("The site's sitemaps: skip, include beside links, or only them")

export const crawlInput = z.object({
  url: start,
  limit: z
    .int()
    .min(1)
    .max(crawl.mostPages)
    .default(crawl.pages)
    .describe(`Maximum pages; a server allows ${crawl.serverPages} unless its operator says otherwise`),
  max_depth: z
    .int()
    .min(0)
    .max(crawl.mostDepth)
    .default(crawl.depth)
    .describe('Maximum link depth; 0 = the start page'),
  formats,
  wait_for,
  ...scope,
  allow_external_links: z.boolean().default(false).describe('Follow links to other hosts too'),
  sitemap: siteMap('skip'),
  only_main_content,
  json_options,
  remove_base64_images,
  render,
  block_ads,
  remove_overlays,
  timeout: z
    .number()
    .min(1)
    .max(limits.scrape.maxTimeoutMs)
    .default(limits.scrape.timeoutMs)
    .describe('Milliseconds for each page; wait_for adds to it'),
  timeout_secs: z
    .number()
    .min(1)
    .max(crawl.mostSecs)
    .default(crawl.secs)
    .describe('Seconds for the whole crawl; what is there by then is kept'),
  dry_run: z.boolean().default(false).describe('Only find out which pages would be visited: `data` has no content'),
  async: z.boolean().default(false).describe('Answer 202 at once; follow the crawl by its id'),
  scrape_options: z
    .object(scrapeOptions.shape)
    .optional()
    .meta({ offTerminal: true })
    .describe("Options of scraping in one object, as Firecrawl's clients send them; they replace those beside it"),
  ...sender,
  origin: sender.origin.describe(
    'What the client calls itself. Who says so polls, as clients of Firecrawl do: the crawl goes on by itself, the answer ' +
      'is 200 with its id, and paths are regular expressions',
  ),
})

const crawlError = z
  .object({
    url: z.string(),
    error: z.string(),
    code: z.string().describe('A code of the error table, e.g. timeout, connection_failed, off_host_redirect'),
    depth,
    status_code: z.int().optional(),
  })
  .meta({ id: 'CrawlError' })

const crawlSkipped = z
  .object({ url: z.string(), reason: z.enum(skipReasons) })
  .meta({ id: 'CrawlSkipped', description: 'excluded: by a path glob; off_host: another host; limit: enough pages' })

const outcome = {
  success: z.boolean().describe('The start page was fetched'),
  id: z.string(),
  url: z.string().describe('Address of this crawl'),
  status: z.enum(crawlStatuses),
  total: counter.describe('Pages admitted: data and errors; while it runs also those that are waiting, up to limit'),
  completed: counter.describe('Pages in data'),
  discovered: counter.describe('Addresses found: data, errors, skipped and robots_blocked'),
  warning: z.string().optional(),
  error: z.string().optional().describe('Why the crawl failed'),
  code: z.string().optional(),
}

const accounts = {
  errors: z.array(crawlError),
  skipped: z.array(crawlSkipped).describe(`At most ${crawl.listed}; skipped_total counts them all`),
  skipped_total: counter,
  robots_blocked: z.array(z.string()),
}

const pages = {
  data: z.array(scrapeData).describe('Breadth-first, in the order in which a depth was discovered'),
  next: z.string().optional().describe('Address of the pages after these, when there are more'),
}

/** The whole of a crawl. */
export const crawlAnswer = z
  .object({ ...outcome, duration_ms: z.int(), ...pages, ...accounts })
  .meta({ id: 'CrawlAnswer' })

/** A crawl that goes on in the background. */
export const crawlAccepted = z
  .object({ success: z.boolean(), id: z.string(), url: z.string().describe('Address of this crawl') })
  .meta({ id: 'CrawlAccepted' })

/** Where a crawl stands, with a part of its pages. */
export const crawlState = z
  .object({
    ...outcome,
    ...pages,
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe('When it is forgotten'),
    duration_ms: z.int(),
  })
  .meta({ id: 'CrawlState' })

/** Where a crawl stands, without its pages. */
export const crawlListed = z
  .object({
    ...outcome,
    start_url: z.string().describe('The start page as it was asked for'),
    errors: counter,
    created_at: z.iso.datetime(),
    duration_ms: z.int(),
    output: z
      .string()
      .optional()
      .describe('Folder that the terminal writes the pages to; only for crawls of the local engine'),
  })
  .meta({ id: 'CrawlListed' })

export const crawlAccounts = z.object({ success: z.boolean(), ...accounts }).meta({ id: 'CrawlAccounts' })

/** By type: what `data` of a crawl's event holds. All but crawl.progress are kept and can be had again. */
export const crawlEventData = {
  'crawl.started': z.object({ id: z.string(), url: z.string(), limit: z.int(), max_depth: z.int() }),
  'crawl.resumed': z.object({ completed: counter }),
  'crawl.found': z.object({ urls: z.array(z.string()), depth }).describe('Addresses that now wait to be visited'),
  'crawl.page': z.object({
    index: counter.describe('Number of the page; data has them by depth, then by number'),
    depth,
    url: z.string().describe('The address as it was found'),
    page: scrapeData,
    replaces: z.boolean().optional().describe('The page was scraped again: forget what was sent for this index'),
    ...warned,
  }),
  'crawl.error': crawlError,
  'crawl.skipped': z.object({ skipped: z.array(crawlSkipped) }),
  'crawl.robots_blocked': z.object({ urls: z.array(z.string()) }),
  'crawl.warning': z.object({ message: z.string() }),
  'crawl.progress': z
    .object({
      total: counter,
      completed: counter,
      discovered: counter,
      errors: counter,
      skipped: counter,
      robots_blocked: counter,
      queued: counter.describe('Addresses that wait to be visited'),
      current: z.array(z.string()).describe('Addresses being visited'),
      concurrency: z.int(),
      pages_per_second: z.number().describe('Over the last ten seconds'),
      elapsed_ms: z.int(),
    })
    .describe('Now and then, never replayed'),
  'crawl.finished': z.object({
    status: z.enum(crawlStatuses),
    success: z.boolean(),
    total: counter,
    completed: counter,
    discovered: counter,
    errors: counter,
    skipped: counter,
    robots_blocked: counter,
    duration_ms: z.int(),
    error: z.string().optional(),
    code: z.string().optional(),
  }),
} as const

export type CrawlEventType = keyof typeof crawlEventData

const member = <Type extends CrawlEventType>(type: Type) =>
  z.object({
    seq: z.int().describe('From 1 in each crawl; crawl.progress repeats the number of the event before it'),
    ts: z.iso.datetime(),
    type: z.literal(type),
    data: crawlEventData[type],
  })

/** One event as it is sent. */
export const crawlEvent = z
  .discriminatedUnion('type', Object.keys(crawlEventData).map((type) => member(type as CrawlEventType)) as never)
  .meta({ id: 'CrawlEvent' })

export const mapInput = z.object({
  url: start,
  limit: z.int().min(1).max(crawl.mostMapped).default(crawl.mapped).describe('Maximum addresses'),
  max_depth: z
    .int()
    .min(0)
    .max(crawl.mostDepth)
    .default(crawl.depth)
    .describe('How many links away from the start page an address may be'),
  search: z.string().min(1).max(limits.input.labelChars).optional().describe('Only addresses that contain this'),
  ...scope,
  sitemap: siteMap('include'),
  timeout_secs: z
    .number()
    .min(1)
    .max(crawl.mostSecs)
    .default(crawl.mapSecs)
    .describe('Seconds for all of it; what is known by then is listed'),
  ...sender,
})

export const mapAnswer = z
  .object({
    success: z.boolean().describe('The start page was fetched'),
    links: z.array(z.string()).describe("The site's addresses, breadth-first"),
    total: counter.describe('Length of links'),
    duration_ms: z.int(),
    warning: z.string().optional(),
    error: z.string().optional(),
    code: z.string().optional(),
  })
  .meta({ id: 'MapAnswer' })

export type CrawlInput = z.output<typeof crawlInput>
export type CrawlStatus = (typeof crawlStatuses)[number]
export type CrawlError = z.output<typeof crawlError>
export type CrawlSkipped = z.output<typeof crawlSkipped>
export type SkipReason = (typeof skipReasons)[number]
export type CrawlAnswer = z.output<typeof crawlAnswer>
export type CrawlAccepted = z.output<typeof crawlAccepted>
export type CrawlListed = z.output<typeof crawlListed>
export type CrawlState = z.output<typeof crawlState>
export type CrawlAccounts = z.output<typeof crawlAccounts>
export type CrawlEventData = { readonly [Type in CrawlEventType]: z.output<(typeof crawlEventData)[Type]> }
export type MapInput = z.output<typeof mapInput>
export type MapAnswer = z.output<typeof mapAnswer>
