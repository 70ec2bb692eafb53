/** Parses XHTML text to a tree, as XML. Entities of a DTD are not expanded, and nothing is loaded. */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { type ElementNode, maxDepth, type Tree } from './tree.ts'
import { TreeNodes } from './tree-nodes.ts'
import { encodeQueries, type QueryEncoder } from './url-queries.ts'
import { resolveUrl } from './urls.ts'

/** Namespaces whose elements are known by their local names: XHTML, SVG and MathML. */
const vocabularies = new Set([
  'http://www.w3.org/1999/xhtml',
  'http://www.w3.org/2000/svg',
  'http://www.w3.org/1998/Math/MathML',
])

/** Maximum number of namespace prefixes, because elements copy them. */
const maxPrefixes = 64

/** Kinds of attributes without quotes, which XML does not have, as htmlparser2 numbers them. */
const unquoted = 1

/** Parses well-formed XHTML (decoded by the caller, from its root element on); returns undefined for other text. */
export function treeFromXhtml(xhtml: string, url: string, encode?: QueryEncoder): Tree | undefined {
  // Most pages that are not well-formed show it early.
  const builder = new XhtmlBuilder(xhtml, encode, () => tokenizer.pause())
  const tokenizer: Tokenizer = new Tokenizer({ xmlMode: false, recognizeSelfClosing: true }, builder)
  // A tokenizer that is created for XML does not know the character references of HTML.
  Object.assign(tokenizer, { xmlMode: true })
  tokenizer.write(xhtml)
  tokenizer.end()
  if (!builder.root) return undefined
  const base = builder.base === undefined ? undefined : resolveUrl(builder.base, url)
  return { root: builder.root, baseUrl: base ?? url }
}

/** An open element; its content is added to `element`, an ancestor below the deepest level of a tree. */
interface Open {
  readonly name: string
  readonly element: ElementNode
  readonly namespaces: ReadonlyMap<string, string>
}

/** Builds the tree from the tokenizer's callbacks, whose positions are offsets into the text. */
class XhtmlBuilder implements TokenizerCallbacks {
  /** URL of the first `<base>`. */
  base: string | undefined
  readonly #text: string
  readonly #encode: QueryEncoder | undefined
  readonly #nodes = new TreeNodes()
  readonly #document: ElementNode = { tag: '', attributes: {}, children: [] }
  readonly #stack: Open[] = [{ name: '', element: this.#document, namespaces: new Map() }]
  readonly #stop: () => void
  #isWellFormed = true
  #tag = ''
  #attributes: Record<string, string> = {}
  #name = ''
  #value = ''

  /** `stop` is called for text that is not well-formed. */
  constructor(text: string, encode: QueryEncoder | undefined, stop: () => void) {
    this.#text = text
    this.#encode = encode
    this.#stop = stop
  }

  /** The root element of well-formed XHTML. */
  get root(): ElementNode | undefined {
    const [root, ...others] = this.#document.children as ElementNode[]
    const isComplete = this.#isWellFormed && this.#stack.length === 1 && others.length === 0
    return isComplete && root?.tag === 'html' ? root : undefined
  }

  ontext(start: number, end: number): void {
    this.#addText(this.#text.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.#addText(String.fromCodePoint(codePoint))
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.#addText(this.#text.slice(start, end - endOffset))
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#text.slice(start, end)
    this.#attributes = {}
  }

  onattribname(start: number, end: number): void {
    this.#name = this.#text.slice(start, end).toLowerCase()
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#text.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: number): void {
    if (quote <= unquoted || Object.hasOwn(this.#attributes, this.#name)) this.#reject()
    // An assignment to `__proto__` sets the prototype.
    else if (this.#name !== '__proto__') this.#attributes[this.#name] = this.#value
    this.#value = ''
  }

  onopentagend(): void {
    this.#open()
  }

  onselfclosingtag(): void {
    this.#open()
    this.#stack.pop()
  }

  onclosetag(start: number, end: number): void {
    if (this.#stack.length > 1 && this.#stack.at(-1)!.name === this.#text.slice(start, end)) this.#stack.pop()
    else this.#reject()
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #reject(): void {
    this.#isWellFormed = false
    this.#stop()
  }

  #addText(text: string): void {
    if (this.#stack.length > 1) this.#nodes.addText(this.#stack.at(-1)!.element, text)
    else if (text.trim() !== '') this.#reject()
  }

  #open(): void {
    const name = this.#tag
    const attributes = this.#attributes
    const parent = this.#stack.at(-1)!
    const namespaces = this.#namespacesOf(attributes, parent.namespaces)
    const tag = localTag(name, namespaces)
    if (this.#encode) encodeQueries(tag, attributes, this.#encode)
    // XHTML 1.1 has no `lang`.
    const language = attributes['xml:lang']
    if (language !== undefined) attributes['lang'] ??= language
    if (tag === 'base') this.base ??= attributes['href']
    const added = this.#nodes.addElement(parent.element, tag, attributes)
    const element = this.#stack.length > maxDepth ? parent.element : added
    this.#stack.push({ name, element, namespaces })
  }

  #namespacesOf(attributes: Readonly<Record<string, string>>, outer: Open['namespaces']): Open['namespaces'] {
    let inner: Map<string, string> | undefined
    for (const name in attributes) {
      if (!/^xmlns(?::|$)/.test(name)) continue
      inner ??= new Map(outer)
      inner.set(name.slice('xmlns:'.length), attributes[name]!)
    }
    if (inner && inner.size > maxPrefixes) this.#reject()
    return this.#isWellFormed && inner ? inner : outer
  }
}

/** Returns the local name of an element of a known vocabulary; others, such as `<dc:title>`, keep a prefix. */
function localTag(name: string, namespaces: ReadonlyMap<string, string>): string {
  const at = name.indexOf(':')
  const local = name.slice(at + 1).toLowerCase()
  const uri = namespaces.get(name.slice(0, Math.max(at, 0)).toLowerCase()) || undefined
  if (uri === undefined ? at < 0 : vocabularies.has(uri)) return local
  return at < 0 ? `xml:${local}` : name.toLowerCase()
}
