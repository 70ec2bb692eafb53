/** Google Custom Search, by its API, with the key of a project and the ID of a search engine. */
import { requestJson, resultsIn } from '../json-request.ts'
import { type Period, type SearchQuery, defineProvider, textOf } from '../provider.ts'

const pageSize = 10
const lastResult = 100

const restrict: Readonly<Record<Period, string>> = { h: 'd1', d: 'd1', w: 'w1', m: 'm1', y: 'y1' }

export const provider = defineProvider({
  name: 'google',
  async page(question, { access, proxies, signal, next = '1' }) {
    const { key, cx, url = 'https://customsearch.googleapis.com' } = access
    const params = new URLSearchParams({ key, cx, ...paramsOf(question, next) })
    const body = await requestJson({
      url: new URL(`${url}/customsearch/v1?${params.toString()}`),
      secrets: [key],
      errorMessage: ({ error }) => (error as { message?: unknown } | undefined)?.message,
      codeOf,
      proxies,
      signal,
    })
    // Without results, the list is missing but the search information is present.
    const list = body['items'] ?? (body['searchInformation'] ? [] : undefined)
    const results = resultsIn(list, { url: 'link', description: 'snippet' }, textOf)
    const start = (body['queries'] as { nextPage?: { startIndex?: unknown }[] } | undefined)?.nextPage?.[0]?.startIndex
    return {
      results,
      ...(typeof start === 'number' && start <= lastResult - pageSize + 1 && { next: String(start) }),
      ...(question.period === 'h' && { warning: 'google cannot filter by hour: these are results of the last day' }),
    }
  },
})

/** Returns the code of misleading statuses: an invalid key gets 400, and an exhausted quota 403. */
function codeOf(status: number, message: string) {
  if (status === 400 && /api key/i.test(message)) return 'unauthorized' as const
  return status === 403 && /quota|limit/i.test(message) ? ('rate_limited' as const) : undefined
}

function paramsOf({ query, lang, country, period }: SearchQuery, start: string): Record<string, string> {
  return {
    q: query,
    num: String(pageSize),
    start,
    ...(country && { gl: country }),
    ...(lang && { hl: lang, lr: `lang_${lang}` }),
    ...(period && { dateRestrict: restrict[period] }),
  }
}
