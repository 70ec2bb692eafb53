/** Reduces a tree to the kept blocks: their text with the elements around it, and the images between them. */
import { isFormula } from '../markdown/math.ts'
import { type ElementNode, isElement, isSilent, rawText, type TextNode, type TreeNode, wordSet } from '../tree.ts'
import { type Block, silentWithContent } from './blocks.ts'

/** Elements without text of their own that belong to the text around them. */
const companions = wordSet('br hr wbr img picture video audio iframe math input svg source track col colgroup')

/** Whether the text of a node is kept, dropped, or absent. */
type TextState = 'kept' | 'dropped' | 'none'

interface Pruned {
  readonly node: TreeNode | undefined
  readonly state: TextState
}

/** Copies a tree with only the text of `blocks`. */
export function prune(root: ElementNode, blocks: Iterable<Pick<Block, 'nodes'>>): ElementNode {
  const kept = new Set<TextNode>()
  for (const { nodes } of blocks) for (const node of nodes) kept.add(node)
  const { node } = pruneElement(root, kept)
  return node && isElement(node) ? node : { ...root, children: [] }
}

function pruneNode(node: TreeNode, kept: ReadonlySet<TextNode>): Pruned {
  if (isElement(node)) return pruneElement(node, kept)
  if (kept.has(node)) return { node, state: 'kept' }
  return { node: undefined, state: /\S/.test(node.text) ? 'dropped' : 'none' }
}

function pruneElement(element: ElementNode, kept: ReadonlySet<TextNode>): Pruned {
  if (companions.has(element.tag) || (element.tag === 'script' && isFormula(element)))
    return { node: element, state: 'none' }
  if (isSilent(element) && !silentWithContent.has(element.tag)) return { node: undefined, state: 'none' }
  const parts = element.children.map((child) => pruneNode(child, kept))
  const state = stateOf(parts)
  if (state === 'dropped') return { node: undefined, state }
  const pruned = state === 'kept' && element.tag === 'blockquote' ? withSource(element, parts) : parts
  const children = state === 'kept' ? withCompanions(pruned) : pruned.flatMap(({ node }) => node ?? [])
  if (state === 'none' && !children.some((child) => isElement(child))) return { node: undefined, state }
  if (state !== 'kept') return { node: { ...element, children }, state }
  const node = shown(element, children)
  // A listing is kept whole, because gaps make it worthless; only line numbers may be removed.
  return { node: element.tag === 'pre' && wordsIn(node) !== wordsIn(element) ? element : node, state }
}

/** Returns the text without white space and digits. */
const wordsIn = (element: ElementNode): string => rawText(element).replaceAll(/[\d\s]+/g, '')

/** Keeps the footer of a quotation, which names its source. */
const withSource = ({ children }: ElementNode, parts: readonly Pruned[]): Pruned[] =>
  parts.map((part, at) => {
    const child = children[at]!
    const isSource = part.state === 'dropped' && isElement(child) && /^(?:footer|cite)$/.test(child.tag)
    return isSource ? { node: child, state: 'kept' } : part
  })

/** Makes kept content visible: `<noscript>`, closed dialogs and hidden elements. */
function shown(element: ElementNode, children: TreeNode[]): ElementNode {
  const tag = silentWithContent.has(element.tag) || element.tag === 'dialog' ? 'div' : element.tag
  const { hidden, ...attributes } = element.attributes
  return { ...element, tag, attributes: hidden === undefined ? element.attributes : attributes, children }
}

function stateOf(pruned: readonly Pruned[]): TextState {
  if (pruned.some(({ state }) => state === 'kept')) return 'kept'
  return pruned.some(({ state }) => state === 'dropped') ? 'dropped' : 'none'
}

/** Returns children with kept text, and those without text that are adjacent to kept text only. */
function withCompanions(pruned: readonly Pruned[]): TreeNode[] {
  const before: TextState[] = []
  let last: TextState = 'none'
  for (const { state } of pruned) {
    before.push(last)
    if (state !== 'none') last = state
  }
  const children: TreeNode[] = []
  let next: TextState = 'none'
  for (let at = pruned.length - 1; at >= 0; at--) {
    const { node, state } = pruned[at]!
    const stays = state === 'kept' || (state === 'none' && next !== 'dropped' && before[at] !== 'dropped')
    if (node && stays) children.push(node)
    if (state !== 'none') next = state
  }
  return children.toReversed()
}
