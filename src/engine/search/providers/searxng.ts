/** SearXNG, own or public instances, by its JSON format. */
import { BaxError } from '../../../core/errors/errors.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { requestJson, resultsIn } from '../json-request.ts'
import { defineProvider, isFull, type Period, type SearchQuery, textOf } from '../provider.ts'

/** Time ranges; SearXNG has none for the last hour. */
const ranges: Readonly<Record<Period, string>> = { h: 'day', d: 'day', w: 'week', m: 'month', y: 'year' }

export const provider = defineProvider({
  name: 'searxng',
  async page(question, { access, proxies, signal, next = '1' }) {
    const { address, headers, secrets } = withoutCredentials(access.url)
    const requestUrl = new URL(`${address}/search?${new URLSearchParams(paramsOf(question, next)).toString()}`)
    const body = await requestJson({
      url: requestUrl,
      headers,
      secrets,
      proxies,
      signal,
      codeOf: (status) => (status === 403 ? 'provider_failed' : undefined),
    }).catch(explain)
    const results = resultsIn(body['results'], { url: 'url', description: 'content' }, textOf)
    const unresponsive = unresponsiveEngines(body['unresponsive_engines'])
    // Results may be missing only because engines did not respond.
    if (results.length === 0 && next === '1' && unresponsive)
      throw new BaxError('provider_failed', `its engines did not respond: ${unresponsive}`)
    return {
      results,
      ...(isFull(results) && { next: String(Number(next) + 1) }),
      ...(question.period === 'h' && { warning: 'searxng cannot filter by hour: these are results of the last day' }),
    }
  },
})

/** Moves credentials in the URL to a header, as fetch rejects URLs with credentials. */
function withoutCredentials(text: string) {
  const url = new URL(text)
  const { username, password } = url
  url.username = ''
  url.password = ''
  const address = url.href.replace(/\/(?:search)?$/, '')
  if (username === '') return { address, headers: {}, secrets: [] }
  const credentials = [username, password].map(decodeUrlPart)
  const headers = { authorization: `Basic ${Buffer.from(credentials.join(':')).toString('base64')}` }
  return { address, headers, secrets: credentials.filter(Boolean) }
}

function paramsOf({ query, lang, country, period }: SearchQuery, page: string): Record<string, string> {
  const locale = lang && country ? `${lang}-${country.toUpperCase()}` : lang
  return {
    q: query,
    format: 'json',
    pageno: page,
    ...(locale && { language: locale }),
    ...(period && { time_range: ranges[period] }),
  }
}

/** Explains status 403, which an instance returns if its settings do not enable the format. */
function explain(error: unknown): never {
  if (error instanceof BaxError && /status 403/.test(error.message))
    throw new BaxError(
      'provider_failed',
      'JSON is disabled (status 403): add json to search.formats in its settings.yml',
    )
  throw error
}

/** Formats unresponsive engines: `google: CAPTCHA, qwant: timeout`. */
function unresponsiveEngines(list: unknown): string {
  if (!Array.isArray(list)) return ''
  return list
    .slice(0, 5)
    .map((entry) => (Array.isArray(entry) ? entry.map(textOf).join(': ') : textOf(entry)))
    .join(', ')
}
