/** Brave Search, by its API. */
import { requestJson, resultsIn } from '../json-request.ts'
import { type Period, type SearchQuery, defineProvider, textOfHtml } from '../provider.ts'

const pageSize = 20
const lastOffset = 9

const freshness: Readonly<Record<Period, string>> = { h: 'pd', d: 'pd', w: 'pw', m: 'pm', y: 'py' }
/** Languages with other codes in the API. */
const languages: Readonly<Record<string, string>> = { ja: 'jp', zh: 'zh-hans', pt: 'pt-pt', no: 'nb' }

export const provider = defineProvider({
  name: 'brave',
  async page(question, { access, proxies, signal, next = '0' }) {
    const { key, url = 'https://api.search.brave.com' } = access
    const params = new URLSearchParams(paramsOf(question, next))
    const body = await requestJson({
      url: new URL(`${url}/res/v1/web/search?${params.toString()}`),
      headers: { 'x-subscription-token': key },
      secrets: [key],
      errorMessage: ({ error, errors }) => detailOf(error ?? (Array.isArray(errors) ? errors[0] : undefined)),
      // An invalid key gets a 422, as all invalid parameters do.
      codeOf: (status, message) =>
        status === 422 && /subscription[_ ]token/i.test(message) ? 'unauthorized' : undefined,
      proxies,
      signal,
    })
    const { web, type } = body as { web?: { results?: unknown }; type?: unknown }
    // The section is missing if there are no results.
    const list = web === undefined && type === 'search' ? [] : web?.results
    const results = resultsIn(list, { url: 'url', description: 'description' }, textOfHtml)
    const more = (body['query'] as { more_results_available?: unknown } | undefined)?.more_results_available === true
    return {
      results,
      ...(more && Number(next) < lastOffset && { next: String(Number(next) + 1) }),
      ...(question.period === 'h' && { warning: 'brave cannot filter by hour: these are results of the last day' }),
    }
  },
})

function paramsOf({ query, limit, lang, country, period }: SearchQuery, offset: string): Record<string, string> {
  return {
    q: query,
    count: String(Math.min(limit, pageSize)),
    offset,
    result_filter: 'web',
    text_decorations: 'false',
    ...(country && { country: country.toUpperCase() }),
    ...(lang && { search_lang: languages[lang] ?? lang }),
    ...(period && { freshness: freshness[period] }),
  }
}

function detailOf(error: unknown): string | undefined {
  const { code, detail } = (error ?? {}) as { code?: unknown; detail?: unknown }
  const texts = [code, detail].filter((text) => typeof text === 'string')
  return texts.length > 0 ? texts.join(': ') : undefined
}
