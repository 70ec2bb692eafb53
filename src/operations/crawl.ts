import { z } from 'zod'
import { limits } from '../core/limits/limits.ts'
import { defineOperation } from '../core/operation/operation.ts'
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
import { defineStream } from '../core/operation/stream.ts'
import { identifier } from '../core/shapes/text.ts'

const id = identifier.describe('Id of a crawl')

export const crawl = defineOperation({
  summary: 'Crawl a site, breadth-first: every page as scrape gives it',
  description:
    'Follows links on the same host in the order in which they are found; the same site gives the same answer whatever the concurrency. ' +
    'Every address is accounted for in data, errors, skipped or robots_blocked. Pages with an HTTP error status below 500 are data with ' +
    '`metadata.error`. With `async: true` or `Prefer: respond-async` the answer is 202 and the crawl goes on by itself.',
  http: 'POST /v1/crawl',
  scope: 'scrape',
  cli: 'crawl <url>',
  example: 'bax crawl https://example.com --limit 50',
  input: crawlInput,
  output: z.union([crawlAnswer, crawlAccepted]),
  status: (output, { origin }) => ('data' in output || origin !== undefined ? 200 : 202),
  statuses: [200, 202],
  idempotent: true,
  replay: {
    note: (output) => ('data' in output ? output.id : output),
    again: async (engine, noted: string | CrawlAccepted, call) => {
      if (typeof noted !== 'string') return noted
      const whole = { id: noted, skip: 0, limit: Infinity }
      const { created_at: _, expires_at: _until, ...state } = await engine.crawls.get(whole, call)
      return { ...state, ...(await engine.crawls.accounts(noted, call)) }
    },
  },
  errors: ['url_blocked', 'model_not_configured', 'rate_limited', 'no_space'],
  run: (engine, { origin, scrape_options: page, ...input }, call) => {
    const polled = origin !== undefined && { async: true, path_syntax: input.path_syntax ?? ('regex' as const) }
    return engine.crawls.crawl({ ...input, ...page, ...polled }, call)
  },
})

export const listCrawls = defineOperation({
  summary: 'List crawls, those at work and those that are kept',
  description: 'Newest first. `GET /v1/crawl/{id}` has the pages of one.',
  http: 'GET /v1/crawl',
  scope: 'scrape',
  cli: 'crawl list',
  example: 'bax crawl list --json',
  show: {
    as: 'table',
    items: 'crawls',
    columns: ['id', 'status', 'completed', 'total', 'errors', 'start_url', 'output'],
  },
  input: z.object({
    limit: z
      .int()
      .min(1)
      .max(limits.crawl.mostListedCrawls)
      .default(limits.crawl.listedCrawls)
      .describe('Crawls at most'),
  }),
  output: z.object({ crawls: z.array(crawlListed), total: z.int(), warning: z.string().optional() }),
  run: (engine, input, call) => engine.crawls.list(input, call),
})

export const getCrawl = defineOperation({
  summary: 'Show where a crawl stands, with its pages',
  description: 'A crawl is kept for 24 hours after its last page. `next` leads to the pages after these.',
  http: 'GET /v1/crawl/{id}',
  scope: 'scrape',
  cli: null,
  input: z.object({
    id,
    skip: z.int().min(0).default(0).describe('Pages to leave out at the beginning'),
    limit: z.int().min(0).max(limits.crawl.mostListedPages).default(limits.crawl.listedPages).describe('Pages at most'),
  }),
  output: crawlState,
  errors: ['crawl_not_found'],
  run: (engine, input, call) => engine.crawls.get(input, call),
})

export const getCrawlErrors = defineOperation({
  summary: 'List the addresses of a crawl that gave no page, with the reasons',
  http: 'GET /v1/crawl/{id}/errors',
  // As the first client of Firecrawl asks for them.
  aliases: ['DELETE /v1/crawl/{id}/errors'],
  scope: 'scrape',
  cli: null,
  input: z.object({ id }),
  output: crawlAccounts,
  errors: ['crawl_not_found'],
  run: (engine, input, call) => engine.crawls.accounts(input.id, call),
})

export const cancelCrawl = defineOperation({
  summary: 'Cancel a crawl; what it has found stays',
  http: 'DELETE /v1/crawl/{id}',
  scope: 'scrape',
  cli: null,
  input: z.object({ id }),
  output: z.object({ success: z.boolean(), status: crawlState.shape.status }),
  errors: ['crawl_not_found', 'conflict'],
  run: async (engine, input, call) => ({ success: true, status: await engine.crawls.cancel(input.id, call) }),
})

export const resumeCrawl = defineOperation({
  summary: 'Go on with a crawl that was cut off, cancelled or out of time',
  description: 'Loses and repeats nothing: it goes on after the last page that was kept, as the same crawl.',
  http: 'POST /v1/crawl/{id}/resume',
  scope: 'scrape',
  cli: null,
  input: z.object({ id }),
  output: crawlAccepted,
  status: () => 202,
  statuses: [202],
  errors: ['crawl_not_found', 'conflict'],
  run: (engine, input, call) => engine.crawls.resume(input.id, call),
})

export const crawlEvents = defineStream({
  summary: 'Follow a crawl: its pages in order, errors, and how far it is',
  description:
    'Server-sent events (or NDJSON with `Accept: application/x-ndjson`). Begins with the first event unless `Last-Event-ID` or `since` ' +
    'says which one was seen last; no event is ever lost. Ends after crawl.finished.',
  http: 'GET /v1/crawl/{id}/stream',
  scope: 'scrape',
  cli: null,
  input: z.object({
    id,
    since: z.int().min(0).default(0).describe('Number of the last event seen; the next ones follow'),
    types: z
      .array(z.enum(Object.keys(crawlEventData) as CrawlEventType[]))
      .max(limits.input.names)
      .optional()
      .describe('Only these event types; crawl.finished comes in any case'),
  }),
  frame: crawlEvent,
  errors: ['crawl_not_found'],
  mayBeOver: true,
  open: (engine, input, call) => engine.crawls.follow({ ...input, since: call.since ?? input.since }, call),
})

export const map = defineOperation({
  summary: 'List the addresses of a site from its links and sitemaps, without scraping',
  http: 'POST /v1/map',
  scope: 'scrape',
  cli: 'map <url>',
  example: 'bax map https://example.com --limit 1000',
  show: { as: 'field', field: 'links' },
  input: mapInput,
  output: mapAnswer,
  errors: ['url_blocked'],
  run: (engine, input, call) => engine.crawls.map(input, call),
})
