/** Converts the live document to a tree; runs inside the page. */
import { encodeQueries } from './url-queries.ts'
import { resolveUrl } from './urls.ts'
import { type ElementNode, type Flow, isPhrasing, maxDepth, type Tree, type TreeNode } from './tree.ts'

/** Content of frames by frame element, created inside the frames. */
export type FrameContent = ReadonlyMap<Element, ElementNode>

/** Maximum length of attribute values, in characters, except for `longAttributes`. */
const maxAttributeLength = 2000
const longAttributes = new Set(['href', 'src', 'srcset', 'data-src', 'data-srcset', 'content', 'alt', 'title', 'class'])
/** Scripts that are kept although they are not rendered: structured data and sources of formulas. */
const keptScripts = /^(?:application\/(?:ld\+json|json)|math\/.*)$/i
const dropped = new Set(['style', 'template', 'noscript', 'canvas', 'object', 'embed', 'option', 'datalist'])

interface Level {
  readonly nodes: ArrayLike<Node>
  at: number
  readonly parent: ElementNode
  /** Whether text is visible. */
  readonly drawn: boolean
  /** Whether the children are laid out side by side. */
  readonly row: boolean
  readonly inHead: boolean
}

/** Returns the document, or one element, as rendered: with shadow trees and filled slots, without hidden elements. */
export function treeFromPage(root: Element, frames: FrameContent): Tree {
  const { lang } = root.ownerDocument.documentElement as HTMLElement
  const top: ElementNode = { tag: 'html', attributes: lang ? { lang } : {}, children: [] }
  // The root element is included even when a style hides it.
  const levels: Level[] = [{ nodes: [root], at: 0, parent: top, drawn: true, row: false, inHead: false }]
  for (let current = levels.at(-1); current; current = levels.at(-1)) {
    const node = current.nodes[current.at++]
    if (node === undefined) levels.pop()
    else if (node.nodeType === Node.TEXT_NODE) {
      if (current.drawn) current.parent.children.push({ text: (node as Text).data })
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      const next = enter(node as Element, current, frames)
      if (next) levels.push(levels.length > maxDepth ? { ...next, parent: current.parent } : next)
    }
  }
  const [only] = top.children as TreeNode[]
  const whole = root === root.ownerDocument.documentElement && only !== undefined && 'tag' in only
  return { root: whole ? only : top, baseUrl: root.baseURI }
}

/** Adds an element to its parent; returns its children as the next level if they are to be visited. */
function enter(element: Element, around: Level, frames: FrameContent): Level | undefined {
  const name = element.localName.toLowerCase()
  const tag = name === 'foreignobject' ? 'div' : name
  if (tag === 'script') return keepScript(element, around)
  if (dropped.has(tag)) return undefined
  if (around.inHead || tag === 'head') {
    const node = { tag, attributes: attributesOf(element), children: [] }
    around.parent.children.push(node)
    return { nodes: element.childNodes, at: 0, parent: node, drawn: true, row: false, inHead: true }
  }
  const style = getComputedStyle(element)
  if (style.display === 'none' && !isMetadata(element, tag)) return undefined
  const drawn = style.visibility === 'visible'
  if (!drawn && tag === 'img') return undefined
  const flow = flowOf(tag, style, around.row)
  const node: ElementNode = { tag, attributes: attributesOf(element), children: [], ...(flow && { flow }) }
  around.parent.children.push(node)
  if (tag === 'svg') {
    keepTitle(element, node)
    return { nodes: drawnHtml(element), at: 0, parent: around.parent, drawn, row: around.row, inHead: false }
  }
  if (tag === 'iframe' || tag === 'frame') {
    const content = frames.get(element)
    if (content && drawn) node.children.push(content)
    return undefined
  }
  const row = /flex|grid/.test(style.display) && !style.flexDirection.startsWith('column')
  return { nodes: childrenOf(element), at: 0, parent: node, drawn, row, inHead: false }
}

/** Keeps only the name of a drawing. */
function keepTitle(svg: Element, node: ElementNode): void {
  const title = [...svg.children].find(({ localName }) => localName === 'title')
  if (title) node.children.push({ tag: 'title', attributes: {}, children: [{ text: title.textContent ?? '' }] })
}

/** Returns the parts of a drawing that are HTML. Those within others come with them. */
function drawnHtml(svg: Element): Element[] {
  const isInner = (part: Element) => svg.contains(part.parentElement!.closest('foreignObject'))
  return [...svg.querySelectorAll('foreignObject')].filter((part) => part.getClientRects().length > 0 && !isInner(part))
}

function keepScript(element: Element, around: Level): undefined {
  if (!keptScripts.test(element.getAttribute('type') ?? '')) return
  const text = element.textContent ?? ''
  around.parent.children.push({ tag: 'script', attributes: attributesOf(element), children: [{ text }] })
}

/** Whether an element is a `<meta>` or `<link>` with microdata, which is kept although it is never rendered. */
const isMetadata = (element: Element, tag: string): boolean =>
  (tag === 'meta' || tag === 'link') && (element.hasAttribute('itemprop') || element.hasAttribute('property'))

/** Returns the nodes rendered inside an element: its shadow tree, the nodes assigned to a slot, else its children. */
function childrenOf(element: Element): ArrayLike<Node> {
  if (element.shadowRoot) return element.shadowRoot.childNodes
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes()
    if (assigned.length > 0) return assigned
  }
  return element.childNodes
}

function attributesOf(element: Element): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const { name, value } of element.attributes) {
    if (name.startsWith('on') || name === 'hidden' || name === '__proto__') continue
    if (value.length <= maxAttributeLength || longAttributes.has(name)) attributes[name] = value
  }
  const { ownerDocument: owner, localName } = element
  if (owner.characterSet !== 'UTF-8') encodeQueries(localName, attributes, (query) => encodedIn(owner, query))
  if (element instanceof HTMLImageElement) {
    const shown = element.currentSrc
    if (shown && !/^https?:/i.test(element.src) && /^https?:/i.test(shown)) attributes['src'] = shown
  }
  keepState(element, attributes)
  return attributes
}

/** Sets attributes to the present state of a form field. Passwords, hidden fields and files keep those of the HTML. */
function keepState(element: Element, attributes: Record<string, string>): void {
  const keep = (name: string, value: string) => {
    delete attributes[name]
    if (value.length <= maxAttributeLength) attributes[name] = value
  }
  if (element instanceof HTMLSelectElement) {
    keep('value', Array.from(element.selectedOptions, ({ text }) => text).join(', '))
  } else if (element instanceof HTMLTextAreaElement) {
    keep('value', element.value)
  } else if (element instanceof HTMLInputElement) {
    if (/^(?:checkbox|radio)$/.test(element.type)) {
      delete attributes['checked']
      if (element.checked) attributes['checked'] = ''
    } else if (!/^(?:password|hidden|file)$/.test(element.type)) keep('value', element.value)
  }
}

/** Encodes a query of a URL as a link of the document does. */
function encodedIn(owner: Document, query: string): string {
  const link = owner.createElementNS('http://www.w3.org/1999/xhtml', 'a') as HTMLAnchorElement
  link.href = `http://host.invalid/?${query}`
  return link.search.slice(1)
}

/** Returns the layout of an element where its style differs from the default of its tag. */
function flowOf(tag: string, style: CSSStyleDeclaration, inRow: boolean): Flow | undefined {
  const { display } = style
  const flow: Flow = /^(?:inline|contents|ruby\S*)$/.test(display)
    ? 'inline'
    : display.startsWith('inline')
      ? 'apart'
      : 'block'
  if (!isPhrasing({ tag, attributes: {}, children: [] })) return tag === 'div' && flow !== 'block' ? flow : undefined
  if (flow === 'inline') return undefined
  const outOfLine = style.float !== 'none' || style.position === 'absolute' || style.position === 'fixed'
  return flow === 'block' && !inRow && !outOfLine ? 'block' : 'apart'
}

/** Makes the URLs of a frame's content absolute, because it becomes part of another document. */
export function withAbsoluteUrls({ root, baseUrl }: Tree): ElementNode {
  const visit = (element: ElementNode): void => {
    const attributes = element.attributes as Record<string, string>
    for (const name of ['href', 'src', 'data-src']) {
      const value = attributes[name]
      if (value !== undefined && !/^\s*(?:#|$|javascript:)/i.test(value))
        attributes[name] = resolveUrl(value, baseUrl) ?? value
    }
    for (const child of element.children) if ('tag' in child) visit(child)
  }
  visit(root)
  return root
}
