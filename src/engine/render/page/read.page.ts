/** Reads a rendered page: its document as HTML with flattened shadow trees, and pending redirects. */
import { scrapeLimits } from '../../../core/limits/scrape.ts'

export interface PageReading {
  /** HTML; empty if the page is too large to be transferred. */
  readonly html: string
  readonly isTooLarge: boolean
  readonly url: string
  readonly charset: string
}

/** Reads a property of the document, which forms and images of the same name can shadow. */
const documentProperty = (name: 'documentElement' | 'URL' | 'characterSet'): unknown =>
  Object.getOwnPropertyDescriptor(Document.prototype, name)!.get!.call(document)

const voidTags = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
const rawTextTags = new Set(['script', 'style', 'noscript', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'])

export function readPage(): PageReading {
  return readPlainPage() ?? reading(flatten(rootElement()!))
}

/** Maximum length of the HTML, in characters. */
const maxChars = 2 * scrapeLimits.bodyBytes

/** Returns whether the text of a page exceeds the limit, without serializing it: that can take seconds. */
export const isTooLarge = (): boolean => (rootElement()?.textContent?.length ?? 0) > maxChars

/** Returns the same for pages without open shadow trees, undefined for others, whose HTML lacks their content. */
export function readPlainPage(): PageReading | undefined {
  if (isTooLarge()) return reading(undefined)
  for (const element of document.querySelectorAll('*')) if (element.shadowRoot) return undefined
  return reading(rootElement()?.outerHTML ?? '')
}

const rootElement = () => documentProperty('documentElement') as Element | null

/** Builds the reading of a page; of one that is too large without its HTML. */
const reading = (html: string | undefined): PageReading => {
  const fits = html !== undefined && html.length <= maxChars
  return {
    html: fits ? html : '',
    isTooLarge: !fits,
    url: documentProperty('URL') as string,
    charset: (documentProperty('characterSet') as string).toLowerCase(),
  }
}

/** Serializes a node with shadow trees in place of their hosts' children, and with filled slots. */
function flatten(node: Node): string {
  if (node instanceof Text) return escapeText(node.data)
  if (!(node instanceof Element)) return ''
  const tag = node.localName
  if (tag === 'slot') {
    const assigned = (node as HTMLSlotElement).assignedNodes()
    return (assigned.length > 0 ? assigned : [...node.childNodes]).map(flatten).join('')
  }
  let open = `<${tag}`
  for (const { name, value } of node.attributes)
    open += ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  open += '>'
  if (voidTags.has(tag)) return open
  if (rawTextTags.has(tag) || tag === 'template') return `${open}${node.innerHTML}</${tag}>`
  const inside = node.shadowRoot ?? node
  let inner = ''
  for (const child of inside.childNodes) inner += flatten(child)
  return `${open}${inner}</${tag}>`
}

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00a0', '&nbsp;')

const overlayName =
  /cookie|consent|gdpr|newsletter|subscribe|popup|modal|overlay|paywall|interstitial|lightbox|banner|notice|onetrust|cmp/i

/** Removes dialogs, consent banners, and fixed layers that cover much of the page. */
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
    if (element && getComputedStyle(element).overflow === 'hidden')
      element.style.setProperty('overflow', 'auto', 'important')
  }
}

/** Returns the size of the whole page, in CSS pixels. */
export function pageSize(): { width: number; height: number } {
  const { documentElement: root, body } = document
  return {
    width: Math.max(root.scrollWidth, body?.scrollWidth ?? 0),
    height: Math.max(root.scrollHeight, body?.scrollHeight ?? 0),
  }
}
