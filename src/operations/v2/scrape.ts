/** Scrapes in the format of Firecrawl's second API. */
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'
import { scrapeAnswerV2, scrapeInputV2 } from '../../core/shapes/v2.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { onScrape, scrape } from '../scrape.ts'

export const scrapeV2 = defineOperation({
  summary: 'Scrape a page (Firecrawl v2 format)',
  description:
    'Like /v1/scrape, but links and images are URLs, screenshots are data: URLs, and metadata is in camelCase.',
  http: 'POST /v2/scrape',
  scope: scrape.scope,
  runs: onScrape,
  sample: { url: 'https://example.com', formats: ['markdown'] },
  input: scrapeInputV2,
  output: scrapeAnswerV2,
  errors: scrape.errors,
  heavy: true,
  run: async (engine, input, call) => {
    const { data, ...answer } = await scrape.run(engine, input, call)
    return data ? { ...answer, data: documentOf(data) } : answer
  },
  // Firecrawl clients pass on only `data`.
  withWarning: ({ data, ...answer }, warning) => ({ ...answer, warning, ...(data && { data: { ...data, warning } }) }),
})
