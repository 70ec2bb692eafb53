/** Parses HTML text to a tree, in linear time however deeply it nests. */
import type { TokenizerCallbacks } from 'htmlparser2'
import { encodeQueries, type QueryEncoder } from './url-queries.ts'
import { resolveUrl } from './urls.ts'
import { tokenizable } from './html-source.ts'
import { HtmlTokenizer, type Syntax } from './html-tokenizer.ts'
import { type ElementNode, maxDepth, type Tree, wordSet } from './tree.ts'
import { TreeNodes } from './tree-nodes.ts'

/** Elements without content and end tag. */
const voids = wordSet(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)

/** Roots of other vocabularies, and elements in them that contain HTML. */
const foreign = wordSet('math svg')
const integration = wordSet('mi mo mn ms mtext annotation-xml foreignobject desc title')

/** Elements that start tags end, by the names of the start tags. */
const ended = {
  'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul':
    'p',
  'h1 h2 h3 h4 h5 h6': 'h1 h2 h3 h4 h5 h6 p',
  'select input output button datalist textarea': 'input option optgroup select button datalist textarea',
  a: 'a',
  tr: 'tr th td',
  th: 'th',
  td: 'thead th td',
  body: 'head link script',
  li: 'li',
  option: 'option',
  optgroup: 'optgroup option',
  'dd dt': 'dd dt',
  'rt rp': 'rt rp',
  'tbody tfoot': 'thead tbody',
}

/** Elements that each start tag ends. */
const closedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(ended).flatMap(([tags, words]) => {
    const names = wordSet(words)
    return tags.split(' ').map((tag) => [tag, names] as const)
  }),
)

/** `encode` encodes the queries of URLs, which are UTF-8 without it; `selfClosing` allows `<a/>`. */
export interface HtmlOptions extends Pick<Syntax, 'selfClosing'> {
  readonly encode?: QueryEncoder | undefined
}

/**
 * Parses HTML text (decoded by the caller) that was fetched from `url`; any text yields a tree.
 * @throws BaxError `content_too_large` for more elements than a tree may have.
 */
export function treeFromHtml(html: string, url: string, { selfClosing = false, encode }: HtmlOptions = {}): Tree {
  const builder = new TreeBuilder(html, { selfClosing, encode })
  const tokenizer = new HtmlTokenizer(builder, { selfClosing })
  tokenizer.write(tokenizable(html))
  tokenizer.end()
  const base = builder.base === undefined ? undefined : resolveUrl(builder.base, url)
  return { root: builder.root, baseUrl: base ?? url }
}

/** Last index of a list of names, one less than a power of two. */
const lastSlot = 255

/** Builds the tree from the tokenizer's callbacks, whose positions are offsets into the text. */
class TreeBuilder implements TokenizerCallbacks {
  readonly #rootAttributes: Record<string, string> = {}
  readonly root: ElementNode = { tag: 'html', attributes: this.#rootAttributes, children: [] }
  /** URL of the first `<base>`. */
  base: string | undefined
  readonly #html: string
  readonly #encode: QueryEncoder | undefined
  /** Whether any tag may be self-closing, not only those of SVG and MathML. */
  readonly #selfClosing: boolean
  readonly #nodes = new TreeNodes()
  /** Recent names of tags and attributes, by their hashes. */
  readonly #names: string[] = []
  readonly #stack: ElementNode[] = [this.root]
  /** Number of open elements below the deepest level; their content is added to the last element of the stack. */
  #below = 0
  /** Shadow roots, which are in the tree as `<div>`. */
  readonly #shadows = new Set<ElementNode>()
  /** Whether tags belong to SVG or MathML. */
  readonly #inForeign: boolean[] = [false]
  #tag = ''
  #attributes: Record<string, string> = {}
  #name = ''
  #value = ''

  constructor(html: string, { selfClosing = false, encode }: HtmlOptions) {
    this.#html = html
    this.#selfClosing = selfClosing
    this.#encode = encode
  }

  ontext(start: number, end: number): void {
    this.#addText(this.#html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.#addText(String.fromCodePoint(codePoint))
  }

  onopentagname(start: number, end: number): void {
    const tag = this.#lowerCase(start, end)
    this.#tag = tag === 'image' && !this.isInForeignContext() ? 'img' : tag
    this.#attributes = {}
  }

  onattribname(start: number, end: number): void {
    this.#name = this.#lowerCase(start, end)
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(): void {
    // `constructor` is inherited.
    if (typeof this.#attributes[this.#name] !== 'string' && this.#name !== '__proto__') {
      this.#attributes[this.#name] = this.#value
    }
    this.#value = ''
  }

  onopentagend(): void {
    this.#open(this.#tag, this.#attributes)
  }

  onselfclosingtag(): void {
    const closes = this.#selfClosing || this.isInForeignContext() || foreign.has(this.#tag)
    this.#open(this.#tag, this.#attributes)
    if (closes && !voids.has(this.#tag)) this.#close(this.#tag)
  }

  onclosetag(start: number, end: number): void {
    const tag = this.#lowerCase(start, end)
    if (tag === 'br') this.#open(tag, {})
    else if (!voids.has(tag)) this.#close(tag)
  }

  isInForeignContext(): boolean {
    return this.#inForeign.at(-1)!
  }

  oncomment(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  /** Returns a name in lower case; a page has few names, and finding one is cheaper than copying and hashing it. */
  #lowerCase(start: number, end: number): string {
    const html = this.#html
    let slot = 0
    for (let at = start; at < end; at++) slot = (slot * 31 + html.charCodeAt(at)) & lastSlot
    const known = this.#names[slot]
    if (known !== undefined && isAt(html, start, end, known)) return known
    return (this.#names[slot] = html.slice(start, end).toLowerCase())
  }

  #open(tag: string, attributes: Record<string, string>): void {
    if (this.#encode) encodeQueries(tag, attributes, this.#encode)
    if (tag === 'html') {
      for (const [name, value] of Object.entries(attributes)) this.#rootAttributes[name] ??= value
      return
    }
    if (tag === 'base' && attributes['href'] !== undefined) this.base ??= attributes['href']
    // HTML ignores nested forms.
    if (tag === 'form' && this.#stack.some((element) => element.tag === 'form')) return
    const ended = this.#below === 0 ? closedBy.get(tag) : undefined
    while (ended && this.#stack.length > 1 && ended.has(this.#stack.at(-1)!.tag)) this.#stack.pop()
    // Browsers show the content of a shadow root.
    const isShadow = tag === 'template' && attributes['shadowrootmode'] !== undefined
    const element = this.#add(isShadow ? 'div' : tag, attributes)
    if (isShadow) this.#shadows.add(element)
    if (voids.has(tag)) return
    if (this.#stack.length > maxDepth) {
      this.#below++
      return
    }
    this.#stack.push(element)
    if (foreign.has(tag)) this.#inForeign.push(true)
    else if (integration.has(tag)) this.#inForeign.push(false)
  }

  #addText(text: string): void {
    this.#nodes.addText(this.#stack.at(-1)!, text)
  }

  #add(tag: string, attributes: Record<string, string>): ElementNode {
    return this.#nodes.addElement(this.#stack.at(-1)!, tag, attributes)
  }

  #close(tag: string): void {
    if (tag === 'html') return
    if (this.#below > 0) {
      this.#below--
      return
    }
    let at = this.#stack.length - 1
    const ends = (element: ElementNode) => (this.#shadows.has(element) ? 'template' : element.tag) === tag
    while (at > 0 && !ends(this.#stack[at]!)) at--
    if (at < 1) {
      // An unmatched `</p>` is an empty paragraph.
      if (tag === 'p') this.#add(tag, {})
      return
    }
    while (this.#stack.length > at) {
      const ended = this.#stack.pop()!.tag
      if (foreign.has(ended) || integration.has(ended)) this.#inForeign.pop()
    }
  }
}

/** Whether the text from `start` to `end` is exactly this name. */
function isAt(html: string, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let at = 0; at < name.length; at++) if (html.charCodeAt(start + at) !== name.charCodeAt(at)) return false
  return true
}
