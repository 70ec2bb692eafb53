/** Makes a tree from the live document; runs inside the page. */
import { resolveUrl } from './address.ts'
import { type ElementNode, type Flow, isPhrasing, maxDepth, type Tree, type TreeNode } from './tree.ts'

/** The content of frames, by their element; made in the frames themselves. */
export type FrameContent = ReadonlyMap<Element, ElementNode>

/** Longest value of an attribute that is kept, unless it is one of those below. */
const longestAttribute = 2000
const longAttributes = new Set(['href', 'src', 'srcset', 'data-src', 'data-srcset', 'content', 'alt', 'title', 'class'])
/** Never rendered, and kept all the same: what the page says about itself, and sources of formulas. */
const keptScripts = /^(?:application\/(?:ld\+json|json)|math\/.*)$/i
const dropped = new Set(['style', 'template', 'noscript', 'canvas', 'object', 'embed', 'option', 'datalist', 'svg'])

interface Level {
  readonly nodes: ArrayLike<Node>
  at: number
  readonly parent: ElementNode
  /** Whether text here is drawn. */
  readonly drawn: boolean
  /** Whether the children are laid out side by side. */
  readonly row: boolean
  readonly inHead: boolean
}

/** The document, or one element of it, as it is rendered: shadow roots opened, slots filled, hidden parts left out. */
export function treeFromPage(root: Element, frames: FrameContent): Tree {
  const top: ElementNode = { tag: 'html', attributes: { ...rootAttributes(root) }, children: [] }
  // An element that was asked for is shown even when a style hides it.
  const levels: Level[] = [level([root], top, { drawn: true, row: false, inHead: false })]
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

const rootAttributes = (root: Element): Record<string, string> => {
  const { lang } = root.ownerDocument.documentElement as HTMLElement
  return lang ? { lang } : {}
}

function level(nodes: ArrayLike<Node>, parent: ElementNode, rest: Pick<Level, 'drawn' | 'row' | 'inHead'>): Level {
  return { nodes, at: 0, parent, ...rest }
}

/** Adds an element to its parent; returns its children as the next level when there is something to see in them. */
function enter(element: Element, around: Level, frames: FrameContent): Level | undefined {
  const tag = element.localName.toLowerCase()
  if (tag === 'script') return keepScript(element, around)
  if (dropped.has(tag)) return undefined
  if (around.inHead || tag === 'head') {
    const node = { tag, attributes: attributesOf(element), children: [] }
    around.parent.children.push(node)
    return level(element.childNodes, node, { drawn: true, row: false, inHead: true })
  }
  const style = getComputedStyle(element)
  if (style.display === 'none' && !isMetadata(element, tag)) return undefined
  const drawn = style.visibility === 'visible'
  if (!drawn && tag === 'img') return undefined
  const flow = flowOf(tag, style, around.row)
  const node: ElementNode = { tag, attributes: attributesOf(element), children: [], ...(flow && { flow }) }
  around.parent.children.push(node)
  if (tag === 'iframe' || tag === 'frame') {
    const content = frames.get(element)
    if (content && drawn) node.children.push(content)
    return undefined
  }
  const row = /flex|grid/.test(style.display) && !style.flexDirection.startsWith('column')
  return level(childrenOf(element), node, { drawn, row, inHead: false })
}

function keepScript(element: Element, around: Level): undefined {
  if (!keptScripts.test(element.getAttribute('type') ?? '')) return
  const text = element.textContent ?? ''
  around.parent.children.push({ tag: 'script', attributes: attributesOf(element), children: [{ text }] })
}

/** Microdata stands in `<meta>` and `<link>` of the body, which are never rendered. */
const isMetadata = (element: Element, tag: string): boolean =>
  (tag === 'meta' || tag === 'link') && (element.hasAttribute('itemprop') || element.hasAttribute('property'))

/** What is rendered inside an element: its shadow tree, what fills a slot, else its children. */
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
    if (value.length <= longestAttribute || longAttributes.has(name)) attributes[name] = value
  }
  if (element instanceof HTMLImageElement) {
    const shown = element.currentSrc
    if (shown && !/^https?:/i.test(element.src) && /^https?:/i.test(shown)) attributes['src'] = shown
  }
  if (element instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(element.type)) {
    delete attributes['checked']
    if (element.checked) attributes['checked'] = ''
  }
  return attributes
}

/** How the style lays the element out, where the tag alone would say otherwise. */
function flowOf(tag: string, style: CSSStyleDeclaration, inRow: boolean): Flow | undefined {
  const { display } = style
  const flow: Flow = /^(?:inline|contents|ruby\S*)$/.test(display) ? 'inline' : display.startsWith('inline') ? 'apart' : 'block' // prettier-ignore
  if (!isPhrasing({ tag, attributes: {}, children: [] })) return tag === 'div' && flow !== 'block' ? flow : undefined
  if (flow === 'inline') return undefined
  const outOfLine = style.float !== 'none' || style.position === 'absolute' || style.position === 'fixed'
  return flow === 'block' && !inRow && !outOfLine ? 'block' : 'apart'
}

/** Makes the addresses inside a frame absolute, for its content is read within another document. */
export function withAbsoluteAddresses({ root, baseUrl }: Tree): ElementNode {
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
