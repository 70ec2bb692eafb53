/** Extractions: data from a list of pages, as a job. */
import { z } from 'zod'
import type { Engine } from '../core/engine.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { mergeExtracted } from '../core/merge-extracted.ts'
import type { Call } from '../core/operation/call.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { extractAccepted, extractInput, extractState } from '../core/shapes/jobs/batch.ts'
import type { CrawlState } from '../core/shapes/crawl.ts'
import { identifier } from '../core/shapes/fields.ts'
import type { ScrapeData } from '../core/shapes/scrape.ts'
import { startList } from './batch.ts'
import { crawl, getCrawl } from './crawl.ts'
import { validUrls } from './url-list.ts'
import { samples } from './samples.ts'

export const extract = defineOperation({
  summary: 'Extract data from the pages of a list',
  description:
    'Responds immediately; get the data with GET /v1/extract/{id}. A language model extracts them if one is configured, ' +
    'else rules; `json_source` says which. The data of several pages are joined: objects by field, lists one after the other.',
  http: 'POST /v1/extract',
  scope: crawl.scope,
  runs: inGateway,
  sample: samples.extracted,
  input: extractInput,
  output: extractAccepted,
  idempotent: true,
  errors: crawl.errors,
  run: (engine, input, call) => startExtract(engine, input, call),
})

export async function startExtract(engine: Engine, input: z.output<typeof extractInput>, call: Call, v2?: true) {
  const { urls: listed, ignore_invalid_urls: ignore, prompt, schema, scrape_options: page, webhook } = input
  assertOptions(input)
  const { urls, invalid } = validUrls(listed, ignore)
  const json = { type: 'json' as const, ...(prompt !== undefined && { prompt }), ...(schema && { schema }) }
  const options = { ...page, formats: [json], webhook, ...(v2 && { v2 }) }
  const { id } = await startList(engine, { kind: 'extract', urls }, options, call)
  return { success: true, id, ...(ignore && { invalidURLs: invalid }) }
}

/** @throws BaxError `invalid_request` */
function assertOptions({ urls, prompt, schema }: z.output<typeof extractInput>): void {
  if (prompt === undefined && !schema) {
    throw new BaxError('invalid_request', 'prompt is required (or schema)', {
      details: [{ path: 'prompt', message: 'is required (or schema)' }],
    })
  }
  const at = urls.findIndex((url) => url.includes('*'))
  if (at < 0) return
  const message = `urls[${at}] is a pattern: ${JSON.stringify(urls[at])}`
  throw new BaxError('invalid_request', message, {
    hint: 'list the pages with /v1/map, or crawl the site with the format json',
    details: [{ path: `urls[${at}]`, message: 'is a pattern' }],
  })
}

export const getExtract = defineOperation({
  summary: 'Show an extraction with its data',
  http: 'GET /v1/extract/{id}',
  scope: getCrawl.scope,
  runs: inGateway,
  sample: samples.crawl,
  input: z.object({ id: identifier.describe('ID of the extraction') }),
  output: extractState,
  errors: getCrawl.errors,
  run: async (engine, { id }, call) => {
    const first = await engine.crawls.get({ id, skip: 0, limit: 0 }, call)
    if (first.kind !== 'extract')
      throw new BaxError('crawl_not_found', `no extraction has the ID ${JSON.stringify(id)}`)
    const status = first.status === 'scraping' ? 'processing' : first.status
    const facts = { success: true, id, status, expiresAt: first.expires_at } as const
    if (status === 'processing' || status === 'cancelled') return facts
    const pages = await pagesOf(engine, first, call)
    const { errors } = await engine.crawls.accounts(id, call)
    const warnings = [...errors.map(({ url, error }) => `${url}: ${error}`), ...pages.map(({ warning }) => warning)]
    const warning = [...new Set([first.warning, ...warnings].filter(Boolean))].join('; ')
    if (pages.length === 0) {
      const { error = 'no page could be loaded', code = 'connection_failed' } = errors[0] ?? first
      return { ...facts, success: false, status: 'failed' as const, error, code }
    }
    return { ...facts, ...dataOf(pages), ...(warning && { warning }) }
  },
})

async function pagesOf(engine: Engine, { id, completed }: CrawlState, call: Call): Promise<ScrapeData[]> {
  const pages: ScrapeData[] = []
  while (pages.length < completed) {
    const { data } = await engine.crawls.get({ id, skip: pages.length, limit: limits.crawl.mostListedPages }, call)
    if (data.length === 0) break
    pages.push(...data)
  }
  return pages
}

function dataOf(pages: readonly ScrapeData[]) {
  const used = new Set(pages.flatMap(({ metadata }) => metadata.json_source ?? []))
  const [source] = used
  const sources: Record<string, string[]> = {}
  for (const { json, metadata } of pages) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) continue
    for (const [name, value] of Object.entries(json))
      if (value !== null && value !== '') (sources[name] ??= []).push(metadata.sourceURL)
  }
  return {
    data: mergeExtracted(pages.map(({ json }) => json)),
    ...(source && { json_source: used.size > 1 ? ('both' as const) : source }),
    sources,
  }
}
