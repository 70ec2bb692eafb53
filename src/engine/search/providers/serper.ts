/** Google results through the API of serper.dev. */
import { requestJson, resultsIn } from '../json-request.ts'
import { defineProvider, isFull, textOf } from '../provider.ts'

/** Results per page: more cost more, and fewer cost the same. */
const pageSize = 10

export const provider = defineProvider({
  name: 'serper',
  async page({ query, lang, country, period }, { access, proxies, signal, next = '1' }) {
    const { key, url = 'https://google.serper.dev' } = access
    const body = await requestJson({
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
      errorMessage: ({ message }) => message,
      // An account without credits gets a 400.
      codeOf: (status, text) => (status === 400 && /credits/i.test(text) ? 'rate_limited' : undefined),
      proxies,
      signal,
    })
    // The list can be missing if there are no results.
    const list = body['organic'] ?? (body['searchParameters'] ? [] : undefined)
    const results = resultsIn(list, { url: 'link', description: 'snippet' }, textOf)
    return { results, ...(isFull(results) && { next: String(Number(next) + 1) }) }
  },
})
