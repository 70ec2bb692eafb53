/** Nodes of trees for the parser of parse5. They are plain nodes: what only the parser needs is kept beside them. */
import { html, type Token, type TreeAdapterTypeMap } from 'parse5'
import { type ElementNode, isElement } from '../tree.ts'
import type { TreeNodes } from '../tree-nodes.ts'
import { encodeQueries, type QueryEncoder } from '../url-queries.ts'

export interface Types extends TreeAdapterTypeMap {
  node: ElementNode
  parentNode: ElementNode
  childNode: ElementNode
  document: ElementNode
  documentFragment: ElementNode
  element: ElementNode
  template: ElementNode
}

const ignored: ElementNode = { tag: '#comment', attributes: {}, children: [] }

/** The part of the adapter that the parser uses. */
export class NodeAdapter {
  /** URL of the first `<base>`. */
  base: string | undefined
  #depth = 0
  /** Elements whose content is text for the parser. */
  readonly noscripts: ElementNode[] = []
  readonly shadowRoots = new Set<ElementNode>()
  readonly nodes: TreeNodes
  readonly encode: QueryEncoder | undefined
  readonly #document: ElementNode = { tag: '#document', attributes: {}, children: [] }
  /** Namespaces of the elements outside HTML. */
  readonly #namespaces = new Map<ElementNode, html.NS>()
  /** Parents of elements; found when the first one is needed, which only misnested markup does. */
  #parents: Map<ElementNode, ElementNode> | undefined
  #mode = html.DOCUMENT_MODE.NO_QUIRKS

  constructor(nodes: TreeNodes, encode: QueryEncoder | undefined) {
    this.nodes = nodes
    this.encode = encode
  }

  /** Highest depth that an element may have; infinite if elements were moved, which may be deeper than any that was open. */
  get depth(): number {
    return this.#parents === undefined ? this.#depth : Infinity
  }

  /** Set after parsing to the highest number of open elements. */
  set depth(depth: number) {
    this.#depth = depth
  }

  createDocument(): ElementNode {
    return this.#document
  }

  createDocumentFragment(): ElementNode {
    return ignored
  }

  createCommentNode(): ElementNode {
    return ignored
  }

  createElement(tag: string, namespace: html.NS, attrs: readonly Token.Attribute[]): ElementNode {
    const attributes: Record<string, string> = {}
    for (const { prefix, name, value } of attrs) attributes[prefix ? `${prefix}:${name}` : name] = value
    if (namespace === html.NS.HTML) return this.createHtmlElement(tag, attributes)
    this.nodes.count()
    const element: ElementNode = { tag: tag.toLowerCase(), attributes, children: [] }
    if (this.encode) encodeQueries(element.tag, attributes, this.encode)
    this.#namespaces.set(element, namespace)
    return element
  }

  /** Creates an element that owns these attributes. */
  createHtmlElement(tag: string, attributes: Record<string, string>): ElementNode {
    this.nodes.count()
    const element: ElementNode = { tag, attributes, children: [] }
    if (this.encode) encodeQueries(tag, attributes, this.encode)
    if (tag === 'base') this.base ??= attributes['href']
    else if (tag === 'noscript') this.noscripts.push(element)
    // Browsers show the content of a shadow root.
    else if (tag === 'template' && attributes['shadowrootmode'] !== undefined) {
      const root = { ...element, tag: 'div' }
      this.shadowRoots.add(root)
      return root
    }
    return element
  }

  adoptAttributes(element: ElementNode, attrs: readonly Token.Attribute[]): void {
    const attributes: Record<string, string> = element.attributes
    for (const { name, value } of attrs) if (!Object.hasOwn(attributes, name)) attributes[name] = value
  }

  appendChild(parent: ElementNode, child: ElementNode): void {
    if (child === ignored) return
    this.#parents?.set(child, parent)
    parent.children.push(child)
  }

  insertBefore(parent: ElementNode, child: ElementNode, before: ElementNode): void {
    if (child === ignored) return
    this.#parents?.set(child, parent)
    parent.children.splice(parent.children.lastIndexOf(before), 0, child)
  }

  detachNode(child: ElementNode): void {
    const siblings = this.getParentNode(child)?.children
    if (!siblings) return
    this.#parents!.delete(child)
    if (siblings.at(-1) === child) siblings.pop()
    else siblings.splice(siblings.lastIndexOf(child), 1)
  }

  /** Moves all children of an element to another one. */
  adopt(donor: ElementNode, recipient: ElementNode): void {
    for (const child of donor.children.splice(0)) {
      recipient.children.push(child)
      if (isElement(child)) this.#parents?.set(child, recipient)
    }
  }

  insertText(parent: ElementNode, text: string): void {
    this.#addText(parent, text, parent.children.length)
  }

  insertTextBefore(parent: ElementNode, text: string, before: ElementNode): void {
    this.#addText(parent, text, parent.children.lastIndexOf(before))
  }

  #addText(parent: ElementNode, text: string, at: number): void {
    const { children } = parent
    const last = at > 0 ? children[at - 1] : undefined
    if (last !== undefined && !isElement(last)) children[at - 1] = { text: last.text + text }
    else if (at === children.length) this.nodes.addText(parent, text)
    else children.splice(at, 0, { text })
  }

  getParentNode(child: ElementNode): ElementNode | null {
    this.#parents ??= parentsIn(this.#document)
    return this.#parents.get(child) ?? null
  }

  getNamespaceURI(element: ElementNode): html.NS {
    return this.#namespaces.size === 0 ? html.NS.HTML : (this.#namespaces.get(element) ?? html.NS.HTML)
  }

  getAttrList({ attributes }: ElementNode): Token.Attribute[] {
    return Object.entries(attributes).map(([name, value]) => ({ name, value }))
  }

  getFirstChild({ children }: ElementNode): ElementNode {
    return children[0] as ElementNode
  }

  getTagName({ tag }: ElementNode): string {
    return tag
  }

  getTemplateContent(template: ElementNode): ElementNode {
    return template
  }

  setTemplateContent(): void {}
  setDocumentType(): void {}

  setDocumentMode(_: ElementNode, mode: html.DOCUMENT_MODE): void {
    this.#mode = mode
  }

  getDocumentMode(): html.DOCUMENT_MODE {
    return this.#mode
  }

  isDocumentTypeNode(): boolean {
    return false
  }
}

function parentsIn(root: ElementNode): Map<ElementNode, ElementNode> {
  const parents = new Map<ElementNode, ElementNode>()
  const waiting = [root]
  for (let parent = waiting.pop(); parent; parent = waiting.pop())
    for (const child of parent.children)
      if (isElement(child)) {
        parents.set(child, parent)
        waiting.push(child)
      }
  return parents
}
