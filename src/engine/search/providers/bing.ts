/** Bing, by its result pages. */
import { attribute, type ElementNode, elementsOf, findElement, hasClass, isElement } from '../../extract/tree.ts'
import { type ProviderResult, defineProvider, isFull, type Period, type SearchQuery } from '../provider.ts'
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

const pageSize = 10
const dayMs = 86_400_000

export const provider = defineProvider({
  name: 'bing',
  async page(question, { access, open, signal, next = '1' }) {
    const address = new URL(access.url ?? 'https://www.bing.com')
    if (address.pathname === '/') address.pathname = '/search'
    const results = read(await open(`${address.href}?${paramsOf(question, next)}`, signal), next === '1')
    return {
      results,
      ...(isFull(results) && { next: String(Number(next) + pageSize) }),
      ...(question.period === 'h' && { warning: 'bing cannot filter by hour: these are results of the last day' }),
    }
  },
})

function paramsOf({ query, lang, country, period }: SearchQuery, first: string): string {
  const params = new URLSearchParams({ q: query })
  // Bing's own requests for the first page have no number.
  if (first !== '1') {
    params.set('first', first)
    params.set('FORM', 'PERE')
  }
  if (lang && country) params.set('mkt', `${lang}-${country.toUpperCase()}`)
  else if (country) params.set('cc', country.toUpperCase())
  if (lang) params.set('setlang', lang)
  if (period) params.set('filters', `ex1:"${filterOf(period)}"`)
  return params.toString()
}

function filterOf(period: Period): string {
  if (period !== 'y') return { h: 'ez1', d: 'ez1', w: 'ez2', m: 'ez3' }[period]
  const today = Math.floor(Date.now() / dayMs)
  return `ez5_${today - 365}_${today}`
}

function read(document: ResultDocument, isFirst: boolean): ProviderResult[] {
  const { root } = document.tree
  if (isChallenge(root)) throw automationDetected()
  checkStatus(document)
  const results = allOfClass(root, 'b_algo').flatMap(resultIn)
  if (results.length === 0 && isFirst && !firstOfClass(root, 'b_no')) throw unknownFormat()
  return results
}

/** Detects challenges by markup: their text can be in any language, and results can mention captchas. */
function isChallenge(root: ElementNode): boolean {
  if (hasId(root, 'b_captcha')) return true
  return [...elementsOf(root)].some((element) => {
    const { tag } = element
    if (tag === 'form') return /\/(?:turing|captcha)/i.test(attribute(element, 'action'))
    if (tag === 'iframe') return /challenges\.cloudflare\.com|\/turing\//.test(attribute(element, 'src'))
    return hasClass(element, /^(?:captcha(?:_.*)?|cf-turnstile)$/)
  })
}

function resultIn(block: ElementNode): ProviderResult[] {
  const isShown = (element: ElementNode) => !isOfClass(element, 'b_vlist2col')
  const snippet = findElement(block, ({ tag }) => tag === 'p', isShown)
  return resultOf(titleLink(block), snippet && withoutLabels(snippet))
}

/** Returns the link inside or around the headline. */
function titleLink(block: ElementNode): ElementNode | undefined {
  const isHeadline = ({ tag }: ElementNode) => tag === 'h2'
  const headline = findElement(block, isHeadline)
  const inside = headline && findElement(headline, ({ tag }) => tag === 'a')
  return (
    inside ?? findElement(block, (element) => element.tag === 'a' && findElement(element, isHeadline) !== undefined)
  )
}

/** Removes the label `Web` before some snippets. */
const withoutLabels = (element: ElementNode): ElementNode => ({
  ...element,
  children: element.children
    .filter((child) => !isElement(child) || !isOfClass(child, 'algoSlug_icon'))
    .map((child) => (isElement(child) ? withoutLabels(child) : child)),
})
