/** Shapes of jobs that visit the URLs of a list: batch scrapes and extractions, in the formats of Firecrawl. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { crawlAccepted } from '../crawl.ts'
import { flag, integer, named } from '../fields.ts'
import { jsonSchema } from '../json-schema.ts'
import { scrapeInput, scrapeOptions, sender } from '../scrape.ts'
import { webhookInput } from './webhook.ts'

const { crawl } = limits

/** URLs are checked one by one, so that invalid ones can be skipped. */
const urls = z.array(z.string().max(limits.input.urlChars)).min(1).max(crawl.mostListedUrls)

const jobOptions = {
  ignore_invalid_urls: flag('Skip invalid URLs, and list them in the response, instead of rejecting the request').meta({
    aliases: ['ignoreInvalidURLs'],
  }),
  webhook: webhookInput,
  ...sender,
}

export const batchInput = z.object({
  urls: urls.describe(`Pages to scrape; a server allows ${crawl.serverPages} unless configured otherwise`),
  ...scrapeOptions.shape,
  actions: scrapeInput.shape.actions,
  max_concurrency: integer(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(`Number of concurrent pages, at most ${crawl.mostAtOnce}`),
  append_to_id: z
    .string()
    .optional()
    .refine((id) => id === undefined, { error: 'is not supported: start another batch' })
    .describe('Not supported: start another batch'),
  ...jobOptions,
})

export const batchAccepted = named('BatchAccepted', {
  ...crawlAccepted.shape,
  invalidURLs: z.array(z.string()).optional().describe('Skipped URLs, with ignore_invalid_urls'),
})

export const extractInput = z.object({
  urls: urls.describe('Pages to extract data from'),
  prompt: z.string().min(1).max(20_000).optional().describe('What to extract, in plain language'),
  schema: jsonSchema.optional().describe('JSON schema of the result'),
  scrape_options: z.object(scrapeOptions.omit({ formats: true, json_options: true }).shape).optional(),
  show_sources: flag('Accepted for clients of Firecrawl: `sources` is always present'),
  ...jobOptions,
})

/** State of an extraction; `data` is present when it has completed. */
export const extractState = named('ExtractState', {
  success: z.boolean(),
  id: z.string(),
  status: z.enum(['processing', 'completed', 'failed', 'cancelled']),
  data: z.unknown().optional().describe('Data of all pages, joined'),
  json_source: z
    .enum(['model', 'heuristic', 'both'])
    .optional()
    .describe('Whether a language model, rules (heuristic), or both extracted the data'),
  sources: z.record(z.string(), z.array(z.string())).optional().describe('Pages with a value, by top-level field'),
  expiresAt: z.iso.datetime(),
  warning: z.string().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
})

export const extractAccepted = named('ExtractAccepted', {
  success: z.boolean(),
  id: z.string(),
  invalidURLs: z.array(z.string()).optional(),
})
