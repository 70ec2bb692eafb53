import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { limits } from '../core/limits/limits.ts'
import { defineOperation, defineStream } from '../core/operation/operation.ts'
import { inGateway, onAnySession } from '../core/operation/placement.ts'
import {
  type CrawlAccepted,
  crawlAccepted,
  crawlAccounts,
  crawlAnswer,
  crawlEvent,
  crawlEventData,
  type CrawlEventType,
  crawlInput,
  crawlListed,
  crawlState,
  mapAnswer,
  mapInput,
} from '../core/shapes/crawl.ts'
import { identifier, integer, listOf } from '../core/shapes/fields.ts'
import { scrapeOptions } from '../core/shapes/scrape.ts'
import { identityErrors, readSessionErrors } from './scrape.ts'
import { samples } from './samples.ts'

const id = identifier.describe('Crawl ID')

export const crawl = defineOperation({
  summary: 'Crawl a site and scrape its pages',
  description:
    'Follows links on the same host breadth-first, in order of discovery; concurrency does not affect the result. Every ' +
    'URL appears in data, errors, skipped or robots_blocked. Pages with an HTTP error status below 500 are data with ' +
    '`metadata.error`. With `async: true` or `Prefer: respond-async` the response is 202 and it runs in the background.',
  http: 'POST /v1/crawl',
  scope: 'scrape',
  runs: inGateway,
  cli: 'crawl <url>',
  example: [
    'bax crawl https://example.com --limit 50',
    "bax crawl https://example.com --include-paths '/blog/**' --ndjson > pages.ndjson",
    'bax crawl https://example.com/docs/ --max-depth 5 -o docs --since docs',
    'bax crawl --resume crl_…',
  ],
  sample: { url: 'https://example.com', limit: 50, include_paths: ['/docs/**'], formats: ['markdown'] },
  input: crawlInput,
  output: z.union([crawlAnswer, crawlAccepted]),
  status: (output, { origin }) => ('data' in output || origin !== undefined ? 200 : 202),
  statuses: [200, 202],
  idempotent: true,
  replay: {
    summarize: (output) => ('data' in output ? output.id : output),
    restore: async (engine, noted: string | CrawlAccepted, call) => {
      if (typeof noted !== 'string') return noted
      const whole = { id: noted, skip: 0, limit: Infinity }
      const { created_at: _, expires_at: _until, ...state } = await engine.crawls.get(whole, call)
      return { ...state, ...(await engine.crawls.accounts(noted, call)) }
    },
  },
  errors: [
    'url_blocked',
    'model_not_configured',
    'no_space',
    'crawl_not_found',
    'browser_not_found',
    'browser_failed',
    ...identityErrors,
  ],
  run: (engine, { origin, scrape_options: page, ...input }, call) => {
    const polled = origin !== undefined && { async: true, path_syntax: input.path_syntax ?? ('regex' as const) }
    return engine.crawls.crawl({ ...input, ...(page && givenIn(page)), ...polled }, call)
  },
})

/** Returns the options that differ from their defaults, which must not replace those beside `scrape_options`. */
function givenIn<Options extends object>(page: Options): Partial<Options> {
  const defaults: Record<string, unknown> = scrapeOptions.parse({})
  const given = Object.entries(page).filter(([name, value]) => !isDeepStrictEqual(value, defaults[name]))
  return Object.fromEntries(given) as Partial<Options>
}

export const listCrawls = defineOperation({
  summary: 'List running and stored crawls',
  description: 'Newest first. `GET /v1/crawl/{id}` returns the pages of a crawl.',
  http: 'GET /v1/crawl',
  scope: 'scrape',
  runs: inGateway,
  cli: 'crawl list',
  example: ['bax crawl list', 'bax crawl list --json'],
  show: {
    as: 'table',
    items: 'crawls',
    columns: ['id', 'status', 'completed', 'total', 'errors', 'start_url', 'output'],
  },
  input: z.object({
    limit: integer(1, limits.crawl.mostListedCrawls)
      .default(limits.crawl.listedCrawls)
      .describe('Maximum number of crawls'),
  }),
  output: z.object({ crawls: z.array(crawlListed), total: z.int(), warning: z.string().optional() }),
  run: (engine, input, call) => engine.crawls.list(input, call),
})

export const getCrawl = defineOperation({
  summary: 'Show a crawl with its pages',
  description: 'A crawl is stored for 24 hours after its last page. `next` is the URL of the next pages.',
  http: 'GET /v1/crawl/{id}',
  scope: 'scrape',
  runs: inGateway,
  sample: { ...samples.crawl, skip: 0, limit: 20 },
  input: z.object({
    id,
    skip: z.int().min(0).default(0).describe('Number of pages to skip'),
    limit: integer(0, limits.crawl.mostListedPages).default(limits.crawl.listedPages).describe('Maximum pages'),
  }),
  output: crawlState,
  errors: ['crawl_not_found'],
  run: (engine, input, call) => engine.crawls.get(input, call),
})

export const getCrawlErrors = defineOperation({
  summary: 'List failed and skipped URLs of a crawl',
  http: 'GET /v1/crawl/{id}/errors',
  // Method used by Firecrawl's first client.
  aliases: ['DELETE /v1/crawl/{id}/errors'],
  scope: 'scrape',
  runs: inGateway,
  sample: samples.crawl,
  input: z.object({ id }),
  output: crawlAccounts,
  errors: ['crawl_not_found'],
  run: (engine, input, call) => engine.crawls.accounts(input.id, call),
})

export const cancelCrawl = defineOperation({
  summary: 'Cancel a crawl and keep its pages',
  http: 'DELETE /v1/crawl/{id}',
  scope: 'scrape',
  runs: inGateway,
  sample: samples.crawl,
  input: z.object({ id }),
  output: z.object({ success: z.boolean(), status: crawlState.shape.status }),
  errors: ['crawl_not_found', 'conflict'],
  run: async (engine, input, call) => ({ success: true, status: await engine.crawls.cancel(input.id, call) }),
})

export const resumeCrawl = defineOperation({
  summary: 'Resume an interrupted or cancelled crawl',
  description:
    'Continues the same crawl after its last stored page, also if it ran out of time. Nothing is lost or repeated.',
  http: 'POST /v1/crawl/{id}/resume',
  scope: 'scrape',
  runs: inGateway,
  sample: samples.crawl,
  input: z.object({ id }),
  output: crawlAccepted,
  status: () => 202,
  statuses: [202],
  errors: ['crawl_not_found', ...identityErrors],
  run: (engine, input, call) => engine.crawls.resume(input.id, call),
})

export const crawlEvents = defineStream({
  summary: 'Follow the events of a crawl',
  description:
    'Pages in order, errors and progress, as server-sent events (or NDJSON with `Accept: application/x-ndjson`). Starts ' +
    'with the first event, or after the one given by `Last-Event-ID` or `since`; no event is lost. Ends after ' +
    'crawl.finished.',
  http: 'GET /v1/crawl/{id}/stream',
  scope: 'scrape',
  runs: inGateway,
  sample: { ...samples.crawl, since: 0 },
  input: z.object({
    id,
    since: z.int().min(0).default(0).describe('Number of the last received event, after which to continue'),
    types: listOf(z.enum(Object.keys(crawlEventData) as CrawlEventType[]))
      .optional()
      .describe('Event types to send, in addition to crawl.finished'),
  }),
  frame: crawlEvent,
  errors: ['crawl_not_found'],
  mayHaveEnded: true,
  open: (engine, input, call) => engine.crawls.follow({ ...input, since: call.since ?? input.since }, call),
})

/** With a session on its worker. */
export const onMap = { ...onAnySession, absent: { on: 'any', label: 'render' } } as const

export const map = defineOperation({
  summary: 'List the URLs of a site',
  description: 'Finds them in links and sitemaps, without scraping the pages.',
  http: 'POST /v1/map',
  scope: 'scrape',
  runs: onMap,
  cli: 'map <url>',
  example: ['bax map https://example.com', 'bax map https://example.com --search docs --limit 1000'],
  show: { as: 'field', field: 'links' },
  sample: { url: 'https://example.com', limit: 1000 },
  input: mapInput,
  output: mapAnswer,
  errors: ['url_blocked', ...readSessionErrors, ...identityErrors],
  run: (engine, input, call) => engine.crawls.map(input, call),
})
