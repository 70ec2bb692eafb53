/** Does a page need a browser? Decided from its markup; when in doubt, yes. */
import { attribute, type ElementNode, visibleText } from '../../extract/tree.ts'
import { isNotice, scriptNotice } from './notices.ts'
import { type PageSigns, signsOf } from './page-signs.ts'

/** Why a page is rendered; the weaker reasons may prove wrong for a whole site. */
export type Reason = 'shell' | 'blank' | 'notice' | 'template' | 'loading' | 'promise' | 'writes' | 'thin'

/** Reasons that markup states outright; they are never unlearnt. */
export const certainReasons: ReadonlySet<string> = new Set<Reason>(['shell', 'blank', 'template'])

/** Text below this is hardly what somebody would scrape a page for. */
const thin = 250
/** Prose of this length is a page of its own, whatever its scripts add to it. */
const ample = 1200

const rootName = /^(?:root|app|app-root|react-root|react-app|main-app|__next|___gatsby|__nuxt|svelte|q-app|ember-app|mount|application|vue-app|spa-root)$/i // prettier-ignore
const contentName = /(?:content|main|article|post|feed|list|result|item|product|card|grid|table|rows|body|entr(?:y|ies)|stor(?:y|ies)|page|view|container|outlet|data|catalog|quote|news|doc|text|message|thread|repl(?:y|ies))/i // prettier-ignore
/** Whole words of a name: `ad` is in many that are none. */
const foreignName = /(?:^|[\s_-])(?:ads?|adverts?|banners?|cookies?|consent|modal|popup|overlay|toast|tooltip|menu|nav(?:bar|igation)?|share|sharing|social|fb-root|disqus|recaptcha|portal|gtm|tracking|chat|widgets?|lightbox|search(?![\s_-]?results?)|(?:mini)?cart|player|map|signup|newsletter|gpt|hbspt|hs_form\w*|taboola|outbrain|primis\w*|google_translate\w*|progress|g_id_\w*)(?=$|[\s_\d-])/i // prettier-ignore

/** Writing into the page, and fetching what to write. */
const writing = /\.innerHTML\s*[+=]|insertAdjacent(?:HTML|Element|Text)|\.append(?:Child)?\(|\.prepend\(|\.replaceChildren\(|\.replaceWith\(|\.textContent\s*=|\.innerText\s*=|document\.write|\.html\(\s*[^)\s]|attachShadow|customElements\.define|createRoot\(|hydrateRoot|\bReactDOM\b|createApp\(|\.mount\(|\brender\(/ // prettier-ignore
const fetching = /\bfetch\(|XMLHttpRequest|\$\.(?:get|ajax|getJSON|post)\(|axios|WebSocket\(|EventSource\(|import\(/
const injecting = /createElement\(\s*['"]script['"]/

/** The reason to render a page, or undefined when its HTML is all there is to it. */
export function needsBrowser(root: ElementNode): Reason | undefined {
  const signs = signsOf(root)
  const isBlank = signs.scripts > 0 && signs.textLength < thin && hasNoText(root)
  if (signs.externalScripts === 0 && signs.inlineScripts.length === 0) return isBlank ? 'blank' : undefined
  const strong = strongReason(signs, isBlank)
  if (strong || (signs.externalScripts === 0 && !signs.inlineScripts.some(hasProgram))) return strong
  return weakReason(signs)
}

/** Whether there is no text, or only a notice in its place. */
function hasNoText(root: ElementNode): boolean {
  const text = visibleText(root)
  return text === '' || isNotice(text)
}

function strongReason(signs: PageSigns, isBlank: boolean): Reason | undefined {
  if (signs.empties.some((element) => isRoot(element) || isOutlet(element))) return 'shell'
  if (isBlank) return 'blank'
  if (scriptNotice.test(signs.noscript) && signs.proseLength < ample) return 'notice'
  if (signs.templates > 0) return 'template'
  if (signs.textLength < thin) return 'thin'
  return undefined
}

function weakReason(signs: PageSigns): Reason | undefined {
  const { proseLength, empties, inlineScripts } = signs
  if (signs.loading > 0 && proseLength < 2 * ample) return 'loading'
  const places = empties.filter((element) => !foreignName.test(nameOf(element)))
  // A script of the page names a place that is still empty, or writes what it has fetched.
  const ids = places.flatMap(({ attributes }) => (attributes['id'] !== undefined ? [attributes['id']] : []))
  if (ids.length > 0 && areMentioned(ids, inlineScripts)) return 'promise'
  if (inlineScripts.some(writesContent)) return 'writes'
  if (signs.externalScripts === 0 || proseLength > 3 * ample) return undefined
  if (places.some((element) => !isLabel(element) && (contentName.test(nameOf(element)) || isBare(element))))
    return 'promise'
  if (signs.application && proseLength < ample) return 'promise'
  return proseLength < thin ? 'thin' : undefined
}

/** Whether inline code does more than count visitors. */
const hasProgram = (code: string): boolean => writing.test(code) || fetching.test(code)

/** What is put into the head is no content. */
const intoHead = /\b(?:document\.)?head\.append(?:Child)?\(/g

function writesContent(whole: string): boolean {
  const code = whole.replaceAll(intoHead, '')
  if (!writing.test(code)) return false
  if (fetching.test(code)) return true
  // What trackers do: make a script element and put it in.
  return !injecting.test(code) || /\.innerHTML\s*[+=]|insertAdjacentHTML|attachShadow|customElements\.define/.test(code)
}

const nameOf = (element: ElementNode): string =>
  `${attribute(element, 'id')} ${attribute(element, 'class')} ${element.tag.includes('-') ? element.tag : ''}`.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-') // prettier-ignore

function isRoot(element: ElementNode): boolean {
  return rootName.test(attribute(element, 'id')) || /^(?:app-root|router-outlet|ng-view)$/.test(element.tag)
}

const isOutlet = ({ tag, attributes }: ElementNode): boolean =>
  (tag === 'main' || attributes['role'] === 'main') && attributes['hidden'] === undefined

/** The heart of a page, or rows of a table, without anything in it. */
const isBare = ({ tag, attributes }: ElementNode): boolean =>
  tag === 'article' || tag === 'tbody' || (tag === 'ul' && attributes['id'] !== undefined)

/** An anchor of a text rather than a place for one. */
const isLabel = ({ tag }: ElementNode): boolean => tag === 'span' || tag === 'p'

/**
 * Whether scripts name one of these in quotes or, as a selector, behind a number sign. All are looked for at once: a
 * page may have thousands of places, and much code.
 */
function areMentioned(ids: readonly string[], scripts: readonly string[]): boolean {
  const quoted = new Set(scripts.flatMap((code) => ["'", '"', '`'].flatMap((sign) => code.split(sign).slice(1, -1))))
  const names = ids.filter((id) => id.length > 1)
  if (names.some((id) => quoted.has(id))) return true
  const selected = scripts.flatMap((code) => code.split('#').slice(1)).sort()
  return names.some((id) => selected[firstFrom(selected, id)]?.startsWith(id))
}

/** Place of the first of sorted texts that does not stand before another. */
function firstFrom(sorted: readonly string[], text: string): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < text) from = middle + 1
    else to = middle
  }
  return from
}
