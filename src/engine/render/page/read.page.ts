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

/**
 * Returns the same for pages whose HTML has all their content, undefined for others: those with open shadow trees, and
 * those with tables of form fields that have changed.
 */
export function readPlainPage(): PageReading | undefined {
  if (isTooLarge()) return reading(undefined)
  for (const element of document.querySelectorAll('*')) if (element.shadowRoot) return undefined
  for (const field of document.querySelectorAll(cellFields)) if (stateOf(field)) return undefined
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
  const state = node.matches(cellFields) ? stateOf(node) : undefined
  if (state?.value !== undefined) open += ` ${state.name}="${escapeAttribute(state.value)}"`
  for (const { name, value } of node.attributes)
    if (name !== state?.name) open += ` ${name}="${escapeAttribute(value)}"`
  open += '>'
  if (voidTags.has(tag)) return open
  if (rawTextTags.has(tag) || tag === 'template') return `${open}${node.innerHTML}</${tag}>`
  if (state && tag === 'textarea') return `${open}${escapeText(state.value ?? '')}</${tag}>`
  const inside = node.shadowRoot ?? node
  let inner = ''
  for (const child of inside.childNodes) inner += flatten(child)
  return `${open}${inner}</${tag}>`
}

/** Form fields in cells of tables, whose values are those of the table. */
const cellFields = ':is(td, th, [role=cell], [role=gridcell]) :is(input, option, textarea)'

/** Returns the attribute with the state of a form field, which has no value if it is absent; undefined if it has not changed. */
function stateOf(field: Element): { name: string; value: string | undefined } | undefined {
  if (field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type))
    return field.checked === field.defaultChecked
      ? undefined
      : { name: 'checked', value: field.checked ? '' : undefined }
  if (field instanceof HTMLOptionElement) {
    const isImplied = !field.defaultSelected && field.index === 0
    if (field.selected === field.defaultSelected || isImplied) return undefined
    return { name: 'selected', value: field.selected ? '' : undefined }
  }
  const isReadable =
    field instanceof HTMLTextAreaElement || !/^(?:password|hidden|file)$/.test((field as HTMLInputElement).type)
  const { value, defaultValue } = field as HTMLInputElement | HTMLTextAreaElement
  return isReadable && value !== defaultValue ? { name: 'value', value } : undefined
}

const escapeAttribute = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

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
