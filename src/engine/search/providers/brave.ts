/** Brave Search, by key. */
import type { SearchAccess } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { askJson, entriesOf } from '../ask-json.ts'
import { textOfHtml } from '../plain-text.ts'
import type { Period, Question, SearchProvider } from '../provider.ts'

/** Results a page, and pages, that it gives at most. */
const pageSize = 20
const lastOffset = 9

const freshness: Readonly<Record<Period, string>> = { h: 'pd', d: 'pd', w: 'pw', m: 'pm', y: 'py' }
/** Languages that it calls otherwise. */
const languages: Readonly<Record<string, string>> = { ja: 'jp', zh: 'zh-hans', pt: 'pt-pt', no: 'nb' }

export function brave({ key = '', url = 'https://api.search.brave.com' }: SearchAccess): SearchProvider {
  return {
    name: 'brave',
    patienceMs: limits.search.apiMs,
    async page(question, signal, next = '0') {
      const words = new URLSearchParams(wordsOf(question, next))
      const body = await askJson({
        url: new URL(`${url}/res/v1/web/search?${words.toString()}`),
        headers: { 'x-subscription-token': key },
        secrets: [key],
        complaint: ({ error, errors }) => detailOf(error ?? (Array.isArray(errors) ? errors[0] : undefined)),
        // A key that is none is answered 422, as every bad parameter is.
        codeOf: (status, said) => (status === 422 && /subscription[_ ]token/i.test(said) ? 'unauthorized' : undefined),
        signal,
      })
      const { web, type } = body as { web?: { results?: unknown }; type?: unknown }
      // Without a result the whole section is missing.
      const list = web === undefined && type === 'search' ? [] : web?.results
      const results = entriesOf(list, 'url').map((entry) => ({
        url: entry['url'] as string,
        title: textOfHtml(entry['title']),
        description: textOfHtml(entry['description']),
      }))
      const more = (body['query'] as { more_results_available?: unknown } | undefined)?.more_results_available === true
      return {
        results,
        ...(more && Number(next) < lastOffset && { next: String(Number(next) + 1) }),
        ...(question.period === 'h' && { warning: 'brave knows no hours: results of the last day' }),
      }
    },
  }
}

function wordsOf({ query, limit, lang, country, period }: Question, offset: string): Record<string, string> {
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
  const words = [code, detail].filter((word) => typeof word === 'string')
  return words.length > 0 ? words.join(': ') : undefined
}
