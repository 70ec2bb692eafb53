/** DuckDuckGo, by its result pages for browsers without scripts, `html` and `lite`. */
import { BaxError } from '../../../core/errors/errors.ts'
import { attribute, type ElementNode, elementsOf } from '../../extract/tree.ts'
import { defineProvider, type ProviderResult, type SearchQuery } from '../provider.ts'
import {
  allOfClass,
  checkStatus,
  firstOfClass,
  hasId,
  isOfClass,
  type ResultDocument,
  resultOf,
  automationDetected,
  unknownFormat,
} from '../result-document.ts'

/** Maximum length of queries; longer ones get an empty response. */
const maxQueryChars = 499

/** Supported regions: country, then language. */
const regions = [
  ...'ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da'.split(' '),
  ...'ee-et fi-fi fr-fr de-de gr-el hk-tzh hu-hu is-is in-en id-en ie-en il-en it-it jp-jp kr-kr'.split(' '),
  ...'lv-lv lt-lt my-en mx-es nl-nl nz-en no-no pk-en pe-es ph-en pl-pl pt-pt ro-ro ru-ru xa-ar'.split(' '),
  ...'sg-en sk-sk sl-sl za-en es-es es-ca se-sv ch-de ch-fr tw-tzh th-en tr-tr us-en us-es ua-uk'.split(' '),
  ...'uk-en vn-en'.split(' '),
]
const countries: Readonly<Record<string, string>> = { gb: 'uk', si: 'sl', sa: 'xa' }
const languages: Readonly<Record<string, string>> = { ja: 'jp', ko: 'kr', zh: 'tzh' }

export const provider = defineProvider({
  name: 'duckduckgo',
  async page(question, { access, open, signal, next }) {
    const address = new URL(access.url ?? 'https://html.duckduckgo.com')
    if (address.pathname === '/') address.pathname = '/html/'
    if (question.query.length > maxQueryChars)
      throw new BaxError('provider_failed', `it accepts queries of at most ${maxQueryChars} characters`)
    const { params, warning } = paramsOf(question)
    const requestUrl = `${address.href}?${next ?? params.toString()}`
    return { ...read(await open(requestUrl, signal)), ...(warning && { warning }) }
  },
})

function paramsOf({ query, lang, country, period }: SearchQuery): { params: URLSearchParams; warning?: string } {
  const params = new URLSearchParams({ q: query })
  const region = regionOf(lang, country)
  if (region) params.set('kl', region)
  if (period) params.set('df', period === 'h' ? 'd' : period)
  const warnings = [
    ...((lang || country) && !region
      ? ['duckduckgo does not support this region: these are results of all regions']
      : []),
    ...(period === 'h' ? ['duckduckgo cannot filter by hour: these are results of the last day'] : []),
  ]
  return { params, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
}

function regionOf(lang: string | undefined, country: string | undefined): string | undefined {
  if (!country) return undefined
  const countryCode = countries[country] ?? country
  const spellings = lang ? [`${countryCode}-${lang}`, `${countryCode}-${languages[lang] ?? lang}`] : []
  return regions.find((region) => (lang ? spellings.includes(region) : region.startsWith(`${countryCode}-`)))
}

function read(document: ResultDocument): { results: ProviderResult[]; next?: string } {
  const { root } = document.tree
  // A challenge has the status 202.
  if (hasId(root, 'challenge-form') || firstOfClass(root, 'anomaly-modal__title')) throw automationDetected()
  checkStatus(document)
  const results = [...htmlResults(root), ...liteResults(root)]
  if (results.length === 0 && !hasNoResults(root))
    throw document.status === 202 ? automationDetected() : unknownFormat()
  const next = results.length > 0 ? nextParams(root) : undefined
  return { results, ...(next && { next }) }
}

function htmlResults(root: ElementNode): ProviderResult[] {
  return allOfClass(root, 'result')
    .filter((block) => !isOfClass(block, 'result--ad'))
    .flatMap((block) => resultOf(firstOfClass(block, 'result__a'), firstOfClass(block, 'result__snippet')))
}

/** Reads results of `lite`, where each is two table rows. */
function liteResults(root: ElementNode): ProviderResult[] {
  const rows = [...elementsOf(root)].filter(({ tag }) => tag === 'tr')
  return rows.flatMap((row, at) => {
    if (isOfClass(row, 'result-sponsored')) return []
    const next = rows[at + 1]
    return resultOf(firstOfClass(row, 'result-link'), next && firstOfClass(next, 'result-snippet'))
  })
}

const hasNoResults = (root: ElementNode): boolean =>
  firstOfClass(root, 'no-results') !== undefined || firstOfClass(root, 'result--no-result') !== undefined

/** Returns the parameters of the button for the next page; that for the previous one has a smaller offset. */
function nextParams(root: ElementNode): string | undefined {
  const forms = [...elementsOf(root)].filter(({ tag }) => tag === 'form').map(hiddenFields)
  const offset = (params: URLSearchParams) => Number(params.get('s') ?? 0)
  const [next] = forms
    .filter((params) => params.has('q') && offset(params) > 0)
    .toSorted((a, b) => offset(b) - offset(a))
  return next?.toString()
}

function hiddenFields(form: ElementNode): URLSearchParams {
  const inputs = [...elementsOf(form)].filter(
    (element) => element.tag === 'input' && attribute(element, 'type') === 'hidden',
  )
  return new URLSearchParams(inputs.map((input) => [attribute(input, 'name'), attribute(input, 'value')]))
}
