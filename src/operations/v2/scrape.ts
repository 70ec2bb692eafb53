import { defineOperation } from '../../core/operation/operation.ts'
import { scrapeAnswerV2, scrapeInputV2 } from '../../core/shapes/v2.ts'
import { scrape } from '../scrape.ts'
import { documentOf } from './document.ts'

export const scrapeV2 = defineOperation({
  summary: "Scrape a page, in the form of Firecrawl's second interface",
  description: 'The scrape of /v1; links and images are addresses, pictures data: URLs, metadata in camelCase.',
  http: 'POST /v2/scrape',
  scope: scrape.scope,
  cli: null,
  input: scrapeInputV2,
  output: scrapeAnswerV2,
  errors: scrape.errors,
  heavy: true,
  run: async (engine, input, call) => {
    const { data, ...answer } = await scrape.run(engine, input, call)
    return data ? { ...answer, data: documentOf(data) } : answer
  },
  // Its clients hand on `data` and nothing else.
  warned: ({ data, ...answer }, warning) => ({ ...answer, warning, ...(data && { data: { ...data, warning } }) }),
})
