import { defineOperation } from '../../core/operation/operation.ts'
import { mapInput } from '../../core/shapes/crawl.ts'
import { mapAnswerV2, mapInputV2 } from '../../core/shapes/v2.ts'
import { map } from '../crawl.ts'

export const mapV2 = defineOperation({
  summary: 'List the URLs of a site (Firecrawl v2 format)',
  http: 'POST /v2/map',
  scope: map.scope,
  input: mapInputV2,
  output: mapAnswerV2,
  errors: map.errors,
  run: async (engine, { timeout, include_subdomains, ignore_query_parameters: ignoreQuery, ...same }, call) => {
    const input = { ...same, allow_subdomains: include_subdomains, timeout_secs: Math.max(1, timeout / 1000) }
    const { links, success, warning, error, code } = await map.run(engine, mapInput.parse(input), call)
    const urls = ignoreQuery ? [...new Set(links.map((url) => url.replace(/\?[^#]*/, '')))] : links
    return {
      success,
      links: urls.map((url) => ({ url })),
      ...(warning !== undefined && { warning }),
      ...(error !== undefined && { error }),
      ...(code !== undefined && { code }),
    }
  },
})
