/** DuckDuckGo's pages for browsers without scripts, `html` and `lite`. */
import type { SearchAccess } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { attribute, type ElementNode, elementsOf, visibleText } from '../../extract/tree.ts'
import { oneLine } from '../plain-text.ts'
import type { Found, Question, SearchProvider } from '../provider.ts'
import {
  allOfClass,
  checkStatus,
  firstOfClass,
  hasId,
  isOfClass,
  type OpenResults,
  type ResultDocument,
  takenForRobot,
  unreadable,
} from '../result-document.ts'

/** It answers longer questions with nothing. */
const longestQuery = 499

/** What its page offers as region: the country, then the language. */
const regions = 'ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr de-de gr-el hk-tzh hu-hu is-is in-en id-en ie-en il-en it-it jp-jp kr-kr lv-lv lt-lt my-en mx-es nl-nl nz-en no-no pk-en pe-es ph-en pl-pl pt-pt ro-ro ru-ru xa-ar sg-en sk-sk sl-sl za-en es-es es-ca se-sv ch-de ch-fr tw-tzh th-en tr-tr us-en us-es ua-uk uk-en vn-en'.split(' ') // prettier-ignore
const countries: Readonly<Record<string, string>> = { gb: 'uk', si: 'sl', sa: 'xa' }
const languages: Readonly<Record<string, string>> = { ja: 'jp', ko: 'kr', zh: 'tzh' }

export function duckduckgo({ url = 'https://html.duckduckgo.com' }: SearchAccess, open: OpenResults): SearchProvider {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/html/'
  return {
    name: 'duckduckgo',
    patienceMs: limits.search.pageMs,
    async page(question, signal, next) {
      if (question.query.length > longestQuery) {
        throw new BaxError('provider_failed', `it takes questions of ${longestQuery} characters at most`)
      }
      const { words, warning } = wordsOf(question)
      const asked = `${address.href}?${next ?? words.toString()}`
      return { ...read(await open(asked, signal)), ...(warning && { warning }) }
    },
  }
}

function wordsOf({ query, lang, country, period }: Question): { words: URLSearchParams; warning?: string } {
  const words = new URLSearchParams({ q: query })
  const region = regionOf(lang, country)
  if (region) words.set('kl', region)
  if (period) words.set('df', period === 'h' ? 'd' : period)
  const warnings = [
    ...((lang || country) && !region ? ['duckduckgo has no such region: results of all regions'] : []),
    ...(period === 'h' ? ['duckduckgo knows no hours: results of the last day'] : []),
  ]
  return { words, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
}

function regionOf(lang: string | undefined, country: string | undefined): string | undefined {
  if (!country) return undefined
  const place = countries[country] ?? country
  const spellings = lang ? [`${place}-${lang}`, `${place}-${languages[lang] ?? lang}`] : []
  return regions.find((region) => (lang ? spellings.includes(region) : region.startsWith(`${place}-`)))
}

function read(document: ResultDocument): { results: Found[]; next?: string } {
  const { root } = document.tree
  // The challenge comes with status 202.
  if (hasId(root, 'challenge-form') || firstOfClass(root, 'anomaly-modal__title')) throw takenForRobot()
  checkStatus(document)
  const results = [...htmlResults(root), ...liteResults(root)]
  if (results.length === 0 && !saysNothingFound(root)) throw document.status === 202 ? takenForRobot() : unreadable()
  const next = results.length > 0 ? nextWords(root) : undefined
  return { results, ...(next && { next }) }
}

function htmlResults(root: ElementNode): Found[] {
  return allOfClass(root, 'result')
    .filter((block) => !isOfClass(block, 'result--ad'))
    .flatMap((block) => foundIn(firstOfClass(block, 'result__a'), firstOfClass(block, 'result__snippet')))
}

/** In `lite` a result is two rows of a table. */
function liteResults(root: ElementNode): Found[] {
  const rows = [...elementsOf(root)].filter(({ tag }) => tag === 'tr')
  return rows.flatMap((row, at) => {
    if (isOfClass(row, 'result-sponsored')) return []
    return foundIn(firstOfClass(row, 'result-link'), rows[at + 1] && firstOfClass(rows[at + 1]!, 'result-snippet'))
  })
}

function foundIn(link: ElementNode | undefined, snippet: ElementNode | undefined): Found[] {
  if (!link) return []
  const description = snippet ? oneLine(visibleText(snippet)) : ''
  return [{ url: attribute(link, 'href'), title: oneLine(visibleText(link)), description }]
}

const saysNothingFound = (root: ElementNode): boolean =>
  firstOfClass(root, 'no-results') !== undefined || firstOfClass(root, 'result--no-result') !== undefined

/** What its button for the next page would send; the one for the page before has a smaller offset. */
function nextWords(root: ElementNode): string | undefined {
  const forms = [...elementsOf(root)].filter(({ tag }) => tag === 'form').map(hiddenFields)
  const offset = (words: URLSearchParams) => Number(words.get('s') ?? 0)
  const [next] = forms.filter((words) => words.has('q') && offset(words) > 0).toSorted((a, b) => offset(b) - offset(a))
  return next?.toString()
}

function hiddenFields(form: ElementNode): URLSearchParams {
  const inputs = [...elementsOf(form)].filter((element) => element.tag === 'input' && attribute(element, 'type') === 'hidden') // prettier-ignore
  return new URLSearchParams(inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')]))
}
