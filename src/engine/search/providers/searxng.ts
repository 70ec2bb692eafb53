/** SearXNG, one's own or a public one, by its JSON format. */
import type { SearchAccess } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { decodedPart } from '../../../core/net/urls.ts'
import { askJson, entriesOf } from '../ask-json.ts'
import { textOf } from '../plain-text.ts'
import { isFull, type Period, type Question, type ResultPage, type SearchProvider } from '../provider.ts'

/** It knows no hours. */
const ranges: Readonly<Record<Period, string>> = { h: 'day', d: 'day', w: 'week', m: 'month', y: 'year' }

export function searxng({ url = '' }: SearchAccess): SearchProvider {
  const { address, headers, secrets } = reached(url)
  return {
    name: 'searxng',
    patienceMs: limits.search.apiMs,
    async page(question, signal, next = '1') {
      const asked = new URL(`${address}/search?${new URLSearchParams(wordsOf(question, next)).toString()}`)
      const body = await askJson({ url: asked, headers, secrets, signal, codeOf }).catch(explain)
      const results = entriesOf(body['results'], 'url').map((entry) => ({
        url: entry['url'] as string,
        title: textOf(entry['title']),
        description: textOf(entry['content']),
      }))
      const silent = silentEngines(body['unresponsive_engines'])
      // Nobody can tell an empty answer from one that its engines were kept from giving.
      if (results.length === 0 && next === '1' && silent) throw new BaxError('provider_failed', `its engines did not answer: ${silent}`) // prettier-ignore
      return answer(results, Number(next), question)
    },
  }
}

/** A name and a password in the address go into a header: fetch takes no address that has them. */
function reached(text: string) {
  const url = new URL(text)
  const { username, password } = url
  url.username = ''
  url.password = ''
  const address = url.href.replace(/\/(?:search)?$/, '')
  if (username === '') return { address, headers: {}, secrets: [] }
  const words = [username, password].map(decodedPart)
  const headers = { authorization: `Basic ${Buffer.from(words.join(':')).toString('base64')}` }
  return { address, headers, secrets: words.filter(Boolean) }
}

const codeOf = (status: number) => (status === 403 ? ('provider_failed' as const) : undefined)

function answer(results: ResultPage['results'], page: number, { period }: Question): ResultPage {
  return {
    results,
    ...(isFull(results) && { next: String(page + 1) }),
    ...(period === 'h' && { warning: 'searxng knows no hours: results of the last day' }),
  }
}

function wordsOf({ query, lang, country, period }: Question, page: string): Record<string, string> {
  const locale = lang && country ? `${lang}-${country.toUpperCase()}` : lang
  return {
    q: query,
    format: 'json',
    pageno: page,
    ...(locale && { language: locale }),
    ...(period && { time_range: ranges[period] }),
  }
}

/** An instance answers 403 when its settings do not name the format. */
function explain(error: unknown): never {
  if (error instanceof BaxError && /status 403/.test(error.message)) {
    throw new BaxError('provider_failed', 'it does not give JSON (status 403): its settings.yml must list json under search.formats') // prettier-ignore
  }
  throw error
}

/** `google: CAPTCHA, qwant: timeout` */
function silentEngines(list: unknown): string {
  if (!Array.isArray(list)) return ''
  return list
    .slice(0, 5)
    .map((entry) => (Array.isArray(entry) ? entry.map(textOf).join(': ') : textOf(entry)))
    .join(', ')
}
