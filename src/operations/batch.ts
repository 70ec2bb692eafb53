/** Batch scrapes: jobs that visit the URLs of a list. They are stored and run as crawls. */
import type { UrlList } from '../core/shapes/jobs/url-list.ts'
import { z } from 'zod'
import type { Engine } from '../core/engine.ts'
import { limits } from '../core/limits/limits.ts'
import type { Call } from '../core/operation/call.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { batchAccepted, batchInput } from '../core/shapes/jobs/batch.ts'
import { type CrawlAccepted, type CrawlInput, crawlInput } from '../core/shapes/crawl.ts'
import { cancelCrawl, crawl, getCrawl, getCrawlErrors } from './crawl.ts'
import { validUrls } from './url-list.ts'
import { samples } from './samples.ts'

type BatchInput = z.output<typeof batchInput>

/** Starts a job that visits the URLs of a list. `options` are those of a crawl. */
export async function startList(
  engine: Engine,
  { kind, urls, actions = [] }: Pick<UrlList, 'kind' | 'urls'> & Partial<UrlList>,
  options: Partial<CrawlInput>,
  call: Call,
): Promise<CrawlAccepted> {
  const input = crawlInput.parse({
    ...options,
    url: urls[0],
    limit: urls.length,
    max_depth: 0,
    sitemap: 'skip',
    llms: 'skip',
    ignore_robots: true,
    allow_external_links: true,
    timeout_secs: limits.crawl.mostSecs,
    async: true,
  })
  const job = { ...input, ...(options.v2 && { v2: options.v2 }), list: { kind, urls, actions } }
  return (await engine.crawls.crawl(job, call)) as CrawlAccepted
}

/** Starts a batch scrape. */
export async function startBatch(engine: Engine, input: BatchInput, call: Call, v2?: true) {
  const {
    urls: listed,
    ignore_invalid_urls: ignore,
    max_concurrency: atOnce,
    actions,
    append_to_id: _,
    ...options
  } = input
  const { urls, invalid } = validUrls(listed, ignore)
  const concurrency = atOnce === undefined ? {} : { concurrency: Math.min(atOnce, limits.crawl.mostAtOnce) }
  const { id } = await startList(
    engine,
    { kind: 'batch', urls, actions },
    { ...options, ...concurrency, ...(v2 && { v2 }) },
    call,
  )
  return { success: true, id, ...(ignore && { invalidURLs: invalid }) }
}

/** Converts the URLs in a response about a crawl to those of batches. */
const asBatch = (url: string): string => url.replace('/v1/crawl/', '/v1/batch/scrape/')

export const batchScrape = defineOperation({
  summary: 'Scrape the pages of a list',
  description:
    'Responds immediately; get the pages with GET /v1/batch/scrape/{id}. A batch is a crawl that follows no links and ' +
    'ignores robots.txt: it appears in the list of crawls, can be followed and resumed like them, and works in a fleet.',
  http: 'POST /v1/batch/scrape',
  scope: crawl.scope,
  runs: inGateway,
  sample: samples.listed,
  input: batchInput,
  output: batchAccepted,
  idempotent: true,
  errors: crawl.errors,
  run: async (engine, input, call) => {
    const started = await startBatch(engine, input, call)
    return { ...started, url: `${call.baseUrl}/v1/batch/scrape/${started.id}` }
  },
})

export const getBatch = defineOperation({
  summary: 'Show a batch scrape with its pages',
  description: 'In the order of the list. `next` is the URL of the next pages.',
  http: 'GET /v1/batch/scrape/{id}',
  scope: getCrawl.scope,
  runs: inGateway,
  sample: { ...samples.crawl, skip: 0, limit: 20 },
  input: getCrawl.input,
  output: getCrawl.output,
  errors: getCrawl.errors,
  run: async (engine, input, call) => {
    const { url, next, ...state } = await getCrawl.run(engine, input, call)
    return { ...state, url: asBatch(url), ...(next !== undefined && { next: asBatch(next) }) }
  },
})

export const getBatchErrors = defineOperation({
  summary: 'List failed URLs of a batch scrape',
  http: 'GET /v1/batch/scrape/{id}/errors',
  aliases: ['DELETE /v1/batch/scrape/{id}/errors'],
  scope: getCrawlErrors.scope,
  runs: inGateway,
  sample: samples.crawl,
  input: getCrawlErrors.input,
  output: getCrawlErrors.output,
  errors: getCrawlErrors.errors,
  run: getCrawlErrors.run,
})

export const cancelBatch = defineOperation({
  summary: 'Cancel a batch scrape and keep its pages',
  http: 'DELETE /v1/batch/scrape/{id}',
  scope: cancelCrawl.scope,
  runs: inGateway,
  sample: samples.crawl,
  input: cancelCrawl.input,
  output: cancelCrawl.output,
  errors: cancelCrawl.errors,
  run: cancelCrawl.run,
})
