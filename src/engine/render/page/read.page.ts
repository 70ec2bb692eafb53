/** Reads a rendered page: its document as HTML with shadow trees in their places, and what a redirect still waits for. */
import { scrapeLimits } from '../../../core/limits/scrape.ts'

export interface PageReading {
  /** Of a page that is too large to be read, no more than shows that it is. */
  readonly html: string
  readonly url: string
  readonly charset: string
}

/** Forms and pictures of these names would stand before the document's own properties. */
const own = (name: 'documentElement' | 'URL' | 'characterSet'): unknown =>
  Object.getOwnPropertyDescriptor(Document.prototype, name)!.get!.call(document)

const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const verbatim = new Set(['script', 'style', 'noscript', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'])

/** HTML, address and encoding of the page as it is now. */
export function readPage(): PageReading {
  return readPlainPage() ?? reading(flatten(rootElement()!))
}

/** The same of a page without open shadow trees, whose content its HTML does not tell; undefined for others. */
export function readPlainPage(): PageReading | undefined {
  for (const element of document.querySelectorAll('*')) if (element.shadowRoot) return undefined
  return reading(rootElement()?.outerHTML ?? '')
}

const rootElement = () => own('documentElement') as Element | null

/** Characters of the longest HTML that is read. */
export const mostChars = 2 * scrapeLimits.bodyBytes

const reading = (html: string): PageReading => ({
  html: html.slice(0, mostChars + 1),
  url: own('URL') as string,
  charset: (own('characterSet') as string).toLowerCase(),
})

/** HTML as it is shown: shadow trees instead of what they hide, slots filled. */
function flatten(node: Node): string {
  if (node instanceof Text) return escapeText(node.data)
  if (!(node instanceof Element)) return ''
  const tag = node.localName
  if (tag === 'slot') {
    const assigned = (node as HTMLSlotElement).assignedNodes()
    return (assigned.length > 0 ? assigned : [...node.childNodes]).map(flatten).join('')
  }
  let open = `<${tag}`
  for (const { name, value } of node.attributes) {
    open += ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  }
  open += '>'
  if (empty.has(tag)) return open
  if (verbatim.has(tag) || tag === 'template') return `${open}${node.innerHTML}</${tag}>`
  const inside = node.shadowRoot ?? node
  let inner = ''
  for (const child of inside.childNodes) inner += flatten(child)
  return `${open}${inner}</${tag}>`
}

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00a0', '&nbsp;')

/** Milliseconds until `<meta http-equiv="refresh">` leads elsewhere; null when it does not soon. */
export function pendingRefresh(longestSecs: number): number | null {
  const meta = document.querySelector('meta[http-equiv="refresh" i]')
  const content = meta?.getAttribute('content') ?? ''
  const [, seconds, target] = /^\s*(\d+(?:\.\d*)?)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)$/is.exec(content) ?? []
  if (target === undefined || Number(seconds ?? 0) > longestSecs) return null
  return Number(seconds ?? 0) * 1000
}

const overlayName = /cookie|consent|gdpr|newsletter|subscribe|popup|modal|overlay|paywall|interstitial|lightbox|banner|notice|onetrust|cmp/i // prettier-ignore

/** Takes away what lies above the page: dialogs, consent banners, and fixed layers that cover much of it. */
export function removeOverlays(): void {
  const area = innerWidth * innerHeight
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    const style = getComputedStyle(element)
    if (style.position !== 'fixed' && style.position !== 'sticky' && element.localName !== 'dialog') continue
    if (style.display === 'none') continue
    const box = element.getBoundingClientRect()
    const covers = (box.width * box.height) / area
    const named = overlayName.test(`${element.id} ${element.className} ${element.getAttribute('role') ?? ''}`)
    const dialog = element.localName === 'dialog' || /dialog/.test(element.getAttribute('role') ?? '')
    if (dialog || (style.position === 'fixed' && (named || (covers > 0.3 && Number(style.zIndex) > 0))))
      element.remove()
  }
  for (const element of [document.documentElement, document.body]) {
    if (element && getComputedStyle(element).overflow === 'hidden') element.style.setProperty('overflow', 'auto', 'important') // prettier-ignore
  }
}

/** Size of the whole page in CSS pixels. */
export function pageSize(): { width: number; height: number } {
  const { documentElement: root, body } = document
  return {
    width: Math.max(root.scrollWidth, body?.scrollWidth ?? 0),
    height: Math.max(root.scrollHeight, body?.scrollHeight ?? 0),
  }
}
