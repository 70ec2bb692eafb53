/** Google's results by way of serper.dev, by key. */
import type { SearchAccess } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { askJson, entriesOf } from '../ask-json.ts'
import { textOf } from '../plain-text.ts'
import { isFull, type SearchProvider } from '../provider.ts'

/** Results a page: more cost more, and fewer cost the same. */
const pageSize = 10

export function serper({ key = '', url = 'https://google.serper.dev' }: SearchAccess): SearchProvider {
  return {
    name: 'serper',
    patienceMs: limits.search.apiMs,
    async page({ query, lang, country, period }, signal, next = '1') {
      const body = await askJson({
        url: new URL(`${url}/search`),
        headers: { 'x-api-key': key },
        body: {
          q: query,
          num: pageSize,
          page: Number(next),
          ...(country && { gl: country }),
          ...(lang && { hl: lang }),
          ...(period && { tbs: `qdr:${period}` }),
        },
        secrets: [key],
        complaint: ({ message }) => message,
        // An account that is used up is answered 400.
        codeOf: (status, said) => (status === 400 && /credits/i.test(said) ? 'rate_limited' : undefined),
        signal,
      })
      // An answer without a single result may come without the list.
      const list = body['organic'] ?? (body['searchParameters'] ? [] : undefined)
      const results = entriesOf(list, 'link').map((entry) => ({
        url: entry['link'] as string,
        title: textOf(entry['title']),
        description: textOf(entry['snippet']),
      }))
      return { results, ...(isFull(results) && { next: String(Number(next) + 1) }) }
    },
  }
}
