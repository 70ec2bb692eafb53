import { defineOperation } from '../../core/operation/operation.ts'
import { searchInput } from '../../core/shapes/search.ts'
import { searchAnswerV2, searchInputV2, type SearchInputV2 } from '../../core/shapes/v2.ts'
import { search } from '../scrape.ts'
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'

export const searchV2 = defineOperation({
  summary: 'Search the web (Firecrawl v2 format)',
  description: 'Like /v1/search, but results are in `data.web` and include the fields of their page if it was scraped.',
  http: 'POST /v2/search',
  scope: search.scope,
  runs: { on: 'any', label: 'render' },
  sample: { query: 'how river deltas grow', limit: 3 },
  input: searchInputV2,
  output: searchAnswerV2,
  errors: search.errors,
  heavy: true,
  run: async (engine, input, call) => {
    const names = input.sources.map((source) => (typeof source === 'string' ? source : source.type))
    const others = names.filter((name) => name !== 'web')
    const notes = others.length > 0 ? [`only the web is searched, not ${others.join(', ')}`] : []
    if (names.length > 0 && others.length === names.length)
      return { success: true, data: {}, warning: notes.join('; ') }
    const { success, data, warning } = await search.run(engine, searchInput.parse(inputV1(input)), call)
    const web = data.map(({ content, ...result }) => ({ ...(content && documentOf(content)), ...result }))
    const warnings = [warning, ...notes].filter(Boolean).join('; ')
    return { success, data: { web }, ...(warnings && { warning: warnings }) }
  },
})

/** Converts the input to the one of /v1; hosts become search operators. */
function inputV1(input: SearchInputV2): Record<string, unknown> {
  const { query, sources: _, include_domains: included, exclude_domains: excluded, ...same } = input
  const only = included.map((host) => `site:${host}`).join(' OR ')
  const parts = [query, included.length > 1 ? `(${only})` : only, ...excluded.map((host) => `-site:${host}`)]
  return { ...same, query: parts.filter(Boolean).join(' ') }
}
