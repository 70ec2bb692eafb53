/** Batch scrapes, extractions and running crawls in the format of Firecrawl's second API, with UUIDs as IDs. */
import { uuidOf } from '../../core/ids.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { inGateway } from '../../core/operation/placement.ts'
import { batchInput } from '../../core/shapes/jobs/batch.ts'
import { crawlPartV2, crawlStateV2 } from '../../core/shapes/v2.ts'
import { batchScrape, startBatch } from '../batch.ts'
import { extract, getExtract, startExtract } from '../extract.ts'
import { activeCrawls } from '../usage.ts'
import { cancelCrawlV2, getCrawlErrorsV2, getCrawlV2, idOf } from './crawl.ts'
import { samples } from '../samples.ts'

export const batchScrapeV2 = defineOperation({
  summary: 'Scrape the pages of a list (Firecrawl v2 format)',
  description: 'Responds immediately; get the pages with GET /v2/batch/scrape/{id}.',
  http: 'POST /v2/batch/scrape',
  scope: batchScrape.scope,
  runs: inGateway,
  sample: samples.listed,
  input: batchInput,
  output: batchScrape.output,
  idempotent: true,
  errors: batchScrape.errors,
  run: async (engine, input, call) => {
    const started = await startBatch(engine, input, call, true)
    const id = uuidOf(started.id)
    return { ...started, id, url: `${call.baseUrl}/v2/batch/scrape/${id}` }
  },
})

export const getBatchV2 = defineOperation({
  summary: 'Show a batch scrape with its pages (Firecrawl v2 format)',
  http: 'GET /v2/batch/scrape/{id}',
  scope: getCrawlV2.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: crawlPartV2,
  output: crawlStateV2,
  errors: getCrawlV2.errors,
  run: async (engine, input, call) => {
    const { next, ...state } = await getCrawlV2.run(engine, input, call)
    return { ...state, ...(next !== undefined && { next: next.replace('/v2/crawl/', '/v2/batch/scrape/') }) }
  },
})

export const getBatchErrorsV2 = defineOperation({
  summary: 'List failed URLs of a batch scrape (Firecrawl v2 format)',
  http: 'GET /v2/batch/scrape/{id}/errors',
  scope: getCrawlErrorsV2.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: getCrawlErrorsV2.input,
  output: getCrawlErrorsV2.output,
  errors: getCrawlErrorsV2.errors,
  run: getCrawlErrorsV2.run,
})

export const cancelBatchV2 = defineOperation({
  summary: 'Cancel a batch scrape (Firecrawl v2 format)',
  http: 'DELETE /v2/batch/scrape/{id}',
  scope: cancelCrawlV2.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: cancelCrawlV2.input,
  output: cancelCrawlV2.output,
  errors: cancelCrawlV2.errors,
  run: cancelCrawlV2.run,
})

export const extractV2 = defineOperation({
  summary: 'Extract data from the pages of a list (Firecrawl v2 format)',
  http: 'POST /v2/extract',
  scope: extract.scope,
  runs: inGateway,
  sample: samples.extracted,
  input: extract.input,
  output: extract.output,
  idempotent: true,
  errors: extract.errors,
  run: async (engine, input, call) => {
    const started = await startExtract(engine, input, call, true)
    return { ...started, id: uuidOf(started.id) }
  },
})

export const getExtractV2 = defineOperation({
  summary: 'Show an extraction with its data (Firecrawl v2 format)',
  http: 'GET /v2/extract/{id}',
  scope: getExtract.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: getExtract.input,
  output: getExtract.output,
  errors: getExtract.errors,
  run: async (engine, { id }, call) => ({ ...(await getExtract.run(engine, { id: idOf(id) }, call)), id }),
})

export const activeCrawlsV2 = defineOperation({
  summary: 'List running crawls (Firecrawl v2 format)',
  http: 'GET /v2/crawl/active',
  scope: activeCrawls.scope,
  runs: inGateway,
  input: activeCrawls.input,
  output: activeCrawls.output,
  run: async (engine, input, call) => {
    const { crawls, ...answer } = await activeCrawls.run(engine, input, call)
    return { ...answer, crawls: crawls.map((crawl) => ({ ...crawl, id: uuidOf(crawl.id) })) }
  },
})
