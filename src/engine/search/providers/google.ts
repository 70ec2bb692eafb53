/** Google's Custom Search, by the key of a project and the identifier of a search engine. */
import type { SearchAccess } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { askJson, entriesOf } from '../ask-json.ts'
import { textOf } from '../plain-text.ts'
import type { Period, Question, SearchProvider } from '../provider.ts'

/** Results a page, and in all, that it gives at most. */
const pageSize = 10
const lastResult = 100

const restrict: Readonly<Record<Period, string>> = { h: 'd1', d: 'd1', w: 'w1', m: 'm1', y: 'y1' }

export function google(access: SearchAccess): SearchProvider {
  const { key = '', cx = '', url = 'https://customsearch.googleapis.com' } = access
  return {
    name: 'google',
    patienceMs: limits.search.apiMs,
    async page(question, signal, next = '1') {
      const words = new URLSearchParams({ key, cx, ...wordsOf(question, next) })
      const body = await askJson({
        url: new URL(`${url}/customsearch/v1?${words.toString()}`),
        secrets: [key],
        complaint: ({ error }) => (error as { message?: unknown } | undefined)?.message,
        codeOf,
        signal,
      })
      // Without a result there is no list, but the account of the search is there.
      const list = body['items'] ?? (body['searchInformation'] ? [] : undefined)
      const results = entriesOf(list, 'link').map((entry) => ({
        url: entry['link'] as string,
        title: textOf(entry['title']),
        description: textOf(entry['snippet']),
      }))
      const start = (body['queries'] as { nextPage?: { startIndex?: unknown }[] } | undefined)?.nextPage?.[0]
        ?.startIndex
      return {
        results,
        ...(typeof start === 'number' && start <= lastResult - pageSize + 1 && { next: String(start) }),
        ...(question.period === 'h' && { warning: 'google knows no hours: results of the last day' }),
      }
    },
  }
}

/** A key that is none is a bad request to it, and a spent quota is forbidden. */
function codeOf(status: number, said: string) {
  if (status === 400 && /api key/i.test(said)) return 'unauthorized' as const
  return status === 403 && /quota|limit/i.test(said) ? ('rate_limited' as const) : undefined
}

function wordsOf({ query, lang, country, period }: Question, start: string): Record<string, string> {
  return {
    q: query,
    num: String(pageSize),
    start,
    ...(country && { gl: country }),
    ...(lang && { hl: lang, lr: `lang_${lang}` }),
    ...(period && { dateRestrict: restrict[period] }),
  }
}
