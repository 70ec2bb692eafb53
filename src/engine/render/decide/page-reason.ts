/** Returns from the HTML of a single page why it needs a browser; in doubt, it does. See `fetch-or-render.ts`. */
import { attribute, type ElementNode, visibleText } from '../../extract/tree.ts'
import { isNotice, scriptNotice } from './notices.ts'
import { type PageSigns, signsOf } from './page-signs.ts'

/** Reason to render a page. Weak reasons can prove wrong for a whole site. */
export type Reason = 'shell' | 'blank' | 'notice' | 'template' | 'loading' | 'promise' | 'writes' | 'thin'

/** Pages with less text, in characters, hardly have content. */
const shortText = 250
/** Pages with this much prose, in characters, are complete whatever their scripts add. */
const longProse = 1200

const rootName =
  /^(?:root|app|app-root|react-root|react-app|main-app|__next|___gatsby|__nuxt|svelte|q-app|ember-app|mount|application|vue-app|spa-root)$/i
const contentName =
  /(?:content|main|article|post|feed|list|result|item|product|card|grid|table|rows|body|entr(?:y|ies)|stor(?:y|ies)|page|view|container|outlet|data|catalog|quote|news|doc|text|message|thread|repl(?:y|ies))/i
/** Names of widgets rather than content. Matches whole words, as `ad` is part of many other names. */
const widgetName =
  /(?:^|[\s_-])(?:ads?|adverts?|banners?|cookies?|consent|modal|popup|overlay|toast|tooltip|menu|nav(?:bar|igation)?|share|sharing|social|fb-root|disqus|recaptcha|portal|gtm|tracking|chat|widgets?|lightbox|search(?![\s_-]?results?)|(?:mini)?cart|player|map|signup|newsletter|gpt|hbspt|hs_form\w*|taboola|outbrain|primis\w*|google_translate\w*|progress|g_id_\w*)(?=$|[\s_\d-])/i

/** Code that writes into the page, and code that loads data. */
const writing =
  /\.innerHTML\s*[+=]|insertAdjacent(?:HTML|Element|Text)|\.append(?:Child)?\(|\.prepend\(|\.replaceChildren\(|\.replaceWith\(|\.textContent\s*=|\.innerText\s*=|document\.write|\.html\(\s*[^)\s]|attachShadow|customElements\.define|createRoot\(|hydrateRoot|\bReactDOM\b|createApp\(|\.mount\(|\brender\(/
const fetching = /\bfetch\(|XMLHttpRequest|\$\.(?:get|ajax|getJSON|post)\(|axios|WebSocket\(|EventSource\(|import\(/
const injecting = /createElement\(\s*['"]script['"]/

/** Returns the reason to render a page, undefined if its HTML is complete. */
export function needsBrowser(root: ElementNode): Reason | undefined {
  const signs = signsOf(root)
  const text = signs.scripts > 0 && signs.textLength < shortText ? visibleText(root) : undefined
  const isBlank = text !== undefined && (text === '' || isNotice(text))
  if (signs.externalScripts === 0 && signs.inlineScripts.length === 0) return isBlank ? 'blank' : undefined
  const strong = strongReason(signs, isBlank)
  if (strong || (signs.externalScripts === 0 && !signs.inlineScripts.some(hasProgram))) return strong
  return weakReason(signs)
}

function strongReason(signs: PageSigns, isBlank: boolean): Reason | undefined {
  if (signs.empties.some((element) => isRoot(element) || isOutlet(element))) return 'shell'
  if (isBlank) return 'blank'
  if (scriptNotice.test(signs.noscripts.join(' ')) && signs.proseLength < longProse) return 'notice'
  if (signs.templates > 0) return 'template'
  if (signs.textLength < shortText) return 'thin'
  return undefined
}

function weakReason(signs: PageSigns): Reason | undefined {
  const { proseLength, empties, inlineScripts } = signs
  if (signs.loading > 0 && proseLength < 2 * longProse) return 'loading'
  const containers = empties.filter((element) => !widgetName.test(nameOf(element)))
  // A script mentions an element that is still empty, or writes data that it loads.
  const ids = containers.flatMap(({ attributes }) => (attributes['id'] !== undefined ? [attributes['id']] : []))
  if (ids.length > 0 && areMentioned(ids, inlineScripts)) return 'promise'
  if (inlineScripts.some(writesContent)) return 'writes'
  if (signs.externalScripts === 0 || proseLength > 3 * longProse) return undefined
  if (containers.some((element) => !isLabel(element) && (contentName.test(nameOf(element)) || isBare(element))))
    return 'promise'
  if (signs.application && proseLength < longProse) return 'promise'
  return proseLength < shortText ? 'thin' : undefined
}

/** Returns whether inline code does more than track visitors. */
const hasProgram = (code: string): boolean => writing.test(code) || fetching.test(code)

/** Elements added to the head are not content. */
const intoHead = /\b(?:document\.)?head\.append(?:Child)?\(/g

function writesContent(script: string): boolean {
  const code = script.replaceAll(intoHead, '')
  if (!writing.test(code)) return false
  if (fetching.test(code)) return true
  // Trackers only create and insert script elements.
  return !injecting.test(code) || /\.innerHTML\s*[+=]|insertAdjacentHTML|attachShadow|customElements\.define/.test(code)
}

const nameOf = (element: ElementNode): string =>
  `${attribute(element, 'id')} ${attribute(element, 'class')} ${element.tag.includes('-') ? element.tag : ''}`.replaceAll(
    /(?<=[a-z])(?=[A-Z])/g,
    '-',
  )

function isRoot(element: ElementNode): boolean {
  return rootName.test(attribute(element, 'id')) || /^(?:app-root|router-outlet|ng-view)$/.test(element.tag)
}

const isOutlet = ({ tag, attributes }: ElementNode): boolean =>
  (tag === 'main' || attributes['role'] === 'main') && attributes['hidden'] === undefined

/** Returns whether an empty element is an article, table body or named list. */
const isBare = ({ tag, attributes }: ElementNode): boolean =>
  tag === 'article' || tag === 'tbody' || (tag === 'ul' && attributes['id'] !== undefined)

const isLabel = ({ tag }: ElementNode): boolean => tag === 'span' || tag === 'p'

/** Number of IDs that are searched for one by one. */
const fewIds = 8

/** Returns whether scripts mention an ID in quotes or after `#`. Searches for all at once if there are many. */
function areMentioned(ids: readonly string[], scripts: readonly string[]): boolean {
  if (ids.length <= fewIds) return ids.some((id) => id.length > 1 && scripts.some((code) => mentions(code, id)))
  const quoted = new Set(scripts.flatMap((code) => ["'", '"', '`'].flatMap((sign) => code.split(sign).slice(1, -1))))
  const names = ids.filter((id) => id.length > 1)
  if (names.some((id) => quoted.has(id))) return true
  const selected = scripts.flatMap((code) => code.split('#').slice(1)).sort()
  return names.some((id) => selected[lowerBound(selected, id)]?.startsWith(id))
}

/** Returns whether code has an ID between quotes of the same kind, none of which is in it, or after `#`. */
const mentions = (code: string, id: string): boolean =>
  code.includes(id) &&
  (["'", '"', '`'].some((sign) => !id.includes(sign) && code.includes(sign + id + sign)) ||
    (!id.includes('#') && code.includes(`#${id}`)))

/** Returns the index of the first of the sorted texts that is not before `text` (lower bound). */
function lowerBound(sorted: readonly string[], text: string): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < text) from = middle + 1
    else to = middle
  }
  return from
}
