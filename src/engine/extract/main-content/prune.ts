/** Reduces a tree to the kept blocks: their text with the elements around it, and the images between them. */
import { isFragment, isScriptListing } from '../markdown/code.ts'
import { findFootnotes } from '../markdown/footnotes.ts'
import { iconLabel } from '../markdown/icon.ts'
import { isCheckMark } from '../markdown/list.ts'
import { isFormula } from '../markdown/math.ts'
import { isCell, isRow } from '../table-parts.ts'
import {
  childElements,
  type ElementNode,
  findElement,
  hasClass,
  isElement,
  isSilent,
  rawText,
  type TextNode,
  type TreeNode,
  wordSet,
} from '../tree.ts'
import { type Block, silentWithContent } from './blocks.ts'
import { replaceRuns } from '../../../core/text/pieces.ts'

/** Elements without text of their own that belong to the text around them. */
const companions = wordSet(
  'br hr wbr img picture video audio iframe math mjx-container input svg source track col colgroup',
)

/** Whether the text of a node is kept, dropped, or absent. */
type TextState = 'kept' | 'dropped' | 'none'

/** Copies a tree with only the text of `blocks`. */
export function prune(root: ElementNode, blocks: Iterable<Pick<Block, 'nodes'>>): ElementNode {
  const kept = new Set<TextNode>()
  for (const { nodes } of blocks) for (const node of nodes) kept.add(node)
  keepNotes(root, kept)
  const hasListings = findElement(root, isPreformatted) !== undefined
  return new Pruner(kept, hasListings).element(root) ?? { ...root, children: [] }
}

/** Keeps the notes that kept text refers to: most of them are short. */
function keepNotes(root: ElementNode, kept: Set<TextNode>): void {
  for (const { link, elements } of findFootnotes(root).references)
    if (textsIn(link).some((text) => kept.has(text))) for (const text of elements.flatMap(textsIn)) kept.add(text)
}

const textsIn = (element: ElementNode): TextNode[] =>
  element.children.flatMap((child) => (isElement(child) ? (isSilent(child) ? [] : textsIn(child)) : child))

class Pruner {
  readonly #kept: ReadonlySet<TextNode>
  /** Whether the page has listings, which takes long to search for in every element. */
  readonly #hasListings: boolean
  /** State of the last node. */
  #state: TextState = 'none'

  constructor(kept: ReadonlySet<TextNode>, hasListings: boolean) {
    this.#kept = kept
    this.#hasListings = hasListings
  }

  element(element: ElementNode): ElementNode | undefined {
    this.#state = 'none' as TextState
    if (companions.has(element.tag) || (element.tag === 'script' && (isFormula(element) || isScriptListing(element))))
      return element
    if (element.children.length === 0 && (iconLabel(element) !== undefined || isCheckMark(element))) return element
    if (isSilent(element) && !silentWithContent.has(element.tag)) return undefined
    const nodes: (TreeNode | undefined)[] = []
    const states: TextState[] = []
    let state = 'none' as TextState
    for (const child of element.children) {
      nodes.push(isElement(child) ? this.element(child) : this.#text(child))
      states.push(this.#state)
      if (this.#state === 'kept' || state === 'none') state = this.#state
    }
    this.#state = state
    if (state === 'dropped') return undefined
    if (state === 'none') return withoutText(element, nodes)
    // Elements without text contain the positions of the parts of a formula.
    if (element.tag === 'span' && isFormula(element)) return element
    if (element.tag === 'blockquote') keepSource(element, nodes, states)
    keepQuotes(element, nodes, states)
    if (this.#hasListings) keepListings(element, nodes, states)
    const node = shown(element, isRow(element) ? withAllCells(element, nodes) : withCompanions(nodes, states))
    // A listing is kept whole, because gaps make it worthless; only line numbers may be removed.
    return (element.tag === 'pre' || isFragment(element)) && wordsIn(node) !== wordsIn(element) ? element : node
  }

  #text(node: TextNode): TextNode | undefined {
    const isKept = this.#kept.has(node)
    this.#state = isKept ? 'kept' : /\S/.test(node.text) ? 'dropped' : 'none'
    return isKept ? node : undefined
  }
}

/** Returns an element without text, if it contains others. */
function withoutText(element: ElementNode, nodes: readonly (TreeNode | undefined)[]): ElementNode | undefined {
  const children = nodes.filter((node) => node !== undefined)
  return children.some(isElement) ? { ...element, children } : undefined
}

/** Returns the cells of a row, without the text of those that are not kept: every cell has its column. */
const withAllCells = ({ children }: ElementNode, nodes: readonly (TreeNode | undefined)[]): TreeNode[] =>
  children.flatMap((child, at) => nodes[at] ?? (isElement(child) && isCell(child) ? { ...child, children: [] } : []))

/** Returns the text without white space and digits. */
const wordsIn = (element: ElementNode): string => replaceRuns(rawText(element), /[\d\s]+/g, '')

/** Keeps the footer of a quotation, which names its source. */
function keepSource({ children }: ElementNode, nodes: (TreeNode | undefined)[], states: TextState[]): void {
  for (const [at, child] of children.entries()) {
    if (states[at] !== 'dropped' || !isElement(child) || !/^(?:footer|cite)$/.test(child.tag)) continue
    nodes[at] = child
    states[at] = 'kept'
  }
}

/** Keeps quotations of other posts beside text that is kept, which forums have in `<aside>`. */
function keepQuotes({ children }: ElementNode, nodes: (TreeNode | undefined)[], states: TextState[]): void {
  for (let at = 0; at < children.length; at++) {
    const child = children[at]!
    if (!isElement(child) || !isQuote(child)) continue
    nodes[at] = child
    states[at] = 'kept'
  }
}

/** Keeps the listings of tabs of which another one is kept. */
function keepListings({ children }: ElementNode, nodes: (TreeNode | undefined)[], states: TextState[]): void {
  if (!states.includes('dropped')) return
  if (!children.some((child, at) => states[at] === 'kept' && isElement(child) && isListing(child))) return
  for (const [at, child] of children.entries()) {
    if (states[at] !== 'dropped' || !isElement(child) || !isListing(child)) continue
    nodes[at] = child
    states[at] = 'kept'
  }
}

const isPreformatted = ({ tag }: ElementNode): boolean => tag === 'pre'

/** Whether an element is a listing, with no more than a title. */
function isListing(element: ElementNode): boolean {
  if (isPreformatted(element)) return true
  if (element.tag !== 'div' && element.tag !== 'figure') return false
  const listing = findElement(element, isPreformatted)
  return listing !== undefined && wordsIn(element).length - wordsIn(listing).length < 40
}

const isQuote = (element: ElementNode): boolean =>
  element.tag === 'aside' &&
  hasClass(element, /^quote$/) &&
  childElements(element).some(({ tag }) => tag === 'blockquote')

/** Makes kept content visible: `<noscript>` and hidden elements. */
function shown(element: ElementNode, children: TreeNode[]): ElementNode {
  const tag = silentWithContent.has(element.tag) ? 'div' : element.tag
  if (element.attributes['hidden'] === undefined) return { ...element, tag, children }
  const { hidden: _, ...attributes } = element.attributes
  return { ...element, tag, attributes, children }
}

/** Returns children with kept text, and those without text that are adjacent to kept text only. */
function withCompanions(nodes: readonly (TreeNode | undefined)[], states: readonly TextState[]): TreeNode[] {
  const children: TreeNode[] = []
  let last: TextState = 'none'
  /** Number of children up to the last one with text. */
  let sure = 0
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]
    const state = states[at]!
    if (state === 'dropped') children.length = sure
    else if (node && (state === 'kept' || last !== 'dropped')) children.push(node)
    if (state === 'none') continue
    last = state
    sure = children.length
  }
  return children
}
