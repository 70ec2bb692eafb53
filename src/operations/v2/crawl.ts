/** Crawls and maps in the format of Firecrawl's second API. Its clients start and poll crawls. */
import { idFromUuid, uuidOf } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { inGateway } from '../../core/operation/placement.ts'
import { crawlInput, mapInput } from '../../core/shapes/crawl.ts'
import {
  crawlAcceptedV2,
  crawlErrorsV2,
  crawlInputV2,
  type CrawlInputV2,
  crawlPartV2,
  crawlStateV2,
  mapAnswerV2,
  mapInputV2,
} from '../../core/shapes/v2.ts'
import { cancelCrawl, crawl, getCrawl, getCrawlErrors, map, onMap } from '../crawl.ts'
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'
import { samples } from '../samples.ts'

const ofCrawl = crawlPartV2.pick({ id: true })

/** Converts an ID: clients of /v2 expect UUIDs, and distinguish IDs from URLs by that. */
export const idOf = (id: string): string => idFromUuid('crl', id)

export const crawlV2 = defineOperation({
  summary: 'Start a crawl (Firecrawl v2 format)',
  description:
    'Responds immediately; get the pages with GET /v2/crawl/{id}. Paths are filtered by regular expressions.',
  http: 'POST /v2/crawl',
  scope: crawl.scope,
  runs: inGateway,
  sample: { url: 'https://example.com', limit: 50 },
  input: crawlInputV2,
  output: crawlAcceptedV2,
  idempotent: true,
  errors: crawl.errors,
  run: async (engine, input, call) => {
    const job = { ...crawlInput.parse(inputV1(input, engine.crawls.mostPages)), v2: true as const }
    const started = await crawl.run(engine, job, call)
    const id = uuidOf(started.id)
    return { success: true, id, url: `${call.baseUrl}/v2/crawl/${id}` }
  },
})

export const getCrawlV2 = defineOperation({
  summary: 'Show a crawl (Firecrawl v2 format)',
  http: 'GET /v2/crawl/{id}',
  scope: getCrawl.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: crawlPartV2,
  output: crawlStateV2,
  errors: getCrawl.errors,
  run: async (engine, input, call) => {
    const state = await getCrawl.run(engine, { ...input, id: idOf(input.id) }, call)
    const { id, status, total, completed, next, data, warning, error, code } = state
    return {
      success: true,
      id: uuidOf(id),
      status,
      total,
      completed,
      expiresAt: state.expires_at,
      ...(next !== undefined && { next: `${call.baseUrl}/v2/crawl/${uuidOf(id)}${next.slice(next.indexOf('?'))}` }),
      data: data.map(documentOf),
      ...(warning !== undefined && { warning }),
      ...(error !== undefined && { error }),
      ...(code !== undefined && { code }),
    }
  },
})

export const getCrawlErrorsV2 = defineOperation({
  summary: 'List errors of a crawl (Firecrawl v2 format)',
  http: 'GET /v2/crawl/{id}/errors',
  scope: getCrawlErrors.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: ofCrawl,
  output: crawlErrorsV2,
  errors: getCrawlErrors.errors,
  run: async (engine, { id }, call) => {
    const { errors, robots_blocked } = await getCrawlErrors.run(engine, { id: idOf(id) }, call)
    return {
      success: true,
      errors: errors.map(({ url, code, error }, at) => ({ id: String(at), url, code, error })),
      robotsBlocked: robots_blocked,
    }
  },
})

export const cancelCrawlV2 = defineOperation({
  summary: 'Cancel a crawl (Firecrawl v2 format)',
  http: 'DELETE /v2/crawl/{id}',
  scope: cancelCrawl.scope,
  runs: inGateway,
  sample: samples.crawlV2,
  input: ofCrawl,
  output: cancelCrawl.output,
  errors: cancelCrawl.errors,
  run: (engine, { id }, call) => cancelCrawl.run(engine, { id: idOf(id) }, call),
})

/** Converts the input to the one of /v1. */
function inputV1(input: CrawlInputV2, mostPages: number): Record<string, unknown> {
  const { url, limit, max_discovery_depth: depth, max_concurrency: atOnce, scrape_options: page } = input
  return {
    ...page,
    url,
    limit: limit ?? Math.min(mostPages, limits.crawl.pagesV2),
    max_depth: depth ?? limits.crawl.mostDepth,
    path_syntax: 'regex',
    include_paths: input.include_paths,
    exclude_paths: input.exclude_paths,
    below_start: !input.crawl_entire_domain,
    allow_subdomains: input.allow_subdomains,
    allow_external_links: input.allow_external_links,
    ...(input.allowed_domains && { allowed_domains: input.allowed_domains }),
    ignore_robots: input.ignore_robots_txt,
    sitemap: input.sitemap,
    site_memory: input.site_memory,
    webhook: input.webhook,
    ...(atOnce !== undefined && { concurrency: Math.min(atOnce, limits.crawl.mostAtOnce) }),
    async: true,
  }
}

export const mapV2 = defineOperation({
  summary: 'List the URLs of a site (Firecrawl v2 format)',
  http: 'POST /v2/map',
  scope: map.scope,
  runs: onMap,
  sample: { url: 'https://example.com' },
  input: mapInputV2,
  output: mapAnswerV2,
  errors: map.errors,
  run: async (engine, { timeout, include_subdomains, ignore_query_parameters: ignoreQuery, ...same }, call) => {
    const input = { ...same, allow_subdomains: include_subdomains, timeout_secs: Math.max(1, timeout / 1000) }
    const { links, described, success, warning, error, code } = await map.run(engine, mapInput.parse(input), call)
    const urls = ignoreQuery ? [...new Set(links.map((url) => url.replace(/\?[^#]*/, '')))] : links
    const entries = new Map(
      described?.map(({ url, title, description }) => [url, { title, ...(description && { description }) }]),
    )
    return {
      success,
      links: urls.map((url) => ({ url, ...entries.get(url) })),
      ...(warning !== undefined && { warning }),
      ...(error !== undefined && { error }),
      ...(code !== undefined && { code }),
    }
  },
})
