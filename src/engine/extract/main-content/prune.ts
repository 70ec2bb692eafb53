/** The tree of the kept blocks: their text with the elements around it, and the pictures that stand among them. */
import { isFormula } from '../markdown/math.ts'
import { type ElementNode, isElement, isSilent, rawText, type TextNode, type TreeNode } from '../tree.ts'
import { type Block, speaking } from './blocks.ts'

/** Elements without text of their own that belong to the text around them. */
const companions = new Set(
  'br hr wbr img picture video audio iframe math input svg source track col colgroup'.split(' '),
)

/** What stands in an element: text that is kept, text that is not, or neither. */
type Standing = 'kept' | 'dropped' | 'none'

interface Pruned {
  readonly node: TreeNode | undefined
  readonly standing: Standing
}

/** Copies of `root` and below with only the text of `blocks` in it. */
export function prune(root: ElementNode, blocks: Iterable<Pick<Block, 'nodes'>>): ElementNode {
  const kept = new Set<TextNode>()
  for (const { nodes } of blocks) for (const node of nodes) kept.add(node)
  const { node } = pruneElement(root, kept)
  return node && isElement(node) ? node : { ...root, children: [] }
}

function pruneNode(node: TreeNode, kept: ReadonlySet<TextNode>): Pruned {
  if (isElement(node)) return pruneElement(node, kept)
  if (kept.has(node)) return { node, standing: 'kept' }
  return { node: undefined, standing: /\S/.test(node.text) ? 'dropped' : 'none' }
}

function pruneElement(element: ElementNode, kept: ReadonlySet<TextNode>): Pruned {
  if (companions.has(element.tag) || (element.tag === 'script' && isFormula(element)))
    return { node: element, standing: 'none' }
  if (isSilent(element) && !speaking.has(element.tag)) return { node: undefined, standing: 'none' }
  const judged = element.children.map((child) => pruneNode(child, kept))
  const standing = standingOf(judged)
  if (standing === 'dropped') return { node: undefined, standing }
  const pruned = standing === 'kept' && element.tag === 'blockquote' ? withSource(element, judged) : judged
  const children = standing === 'kept' ? withCompanions(pruned) : pruned.flatMap(({ node }) => node ?? [])
  if (standing === 'none' && !children.some((child) => isElement(child))) return { node: undefined, standing }
  if (standing !== 'kept') return { node: { ...element, children }, standing }
  const node = shown(element, children)
  // A listing with gaps is worth nothing; numbers of lines are no gaps.
  return { node: element.tag === 'pre' && wordsIn(node) !== wordsIn(element) ? element : node, standing }
}

/** All that is neither space nor number. */
const wordsIn = (element: ElementNode): string => rawText(element).replaceAll(/[\d\s]+/g, '')

/** The parts of a quotation with the footer that says who is quoted. */
const withSource = ({ children }: ElementNode, judged: readonly Pruned[]): Pruned[] =>
  judged.map((part, at) => {
    const child = children[at]!
    const isSource = part.standing === 'dropped' && isElement(child) && /^(?:footer|cite)$/.test(child.tag)
    return isSource ? { node: child, standing: 'kept' } : part
  })

/** What a page shows only without scripts, or when a part of it is opened, is content all the same. */
function shown(element: ElementNode, children: TreeNode[]): ElementNode {
  const tag = speaking.has(element.tag) || element.tag === 'dialog' ? 'div' : element.tag
  const { hidden, ...attributes } = element.attributes
  return { ...element, tag, attributes: hidden === undefined ? element.attributes : attributes, children }
}

function standingOf(pruned: readonly Pruned[]): Standing {
  let standing: Standing = 'none'
  for (const { standing: own } of pruned) {
    if (own === 'kept') return own
    if (own === 'dropped') standing = own
  }
  return standing
}

/** Children with kept text, and those without any text that stand next to kept text only. */
function withCompanions(pruned: readonly Pruned[]): TreeNode[] {
  const before: Standing[] = []
  let last: Standing = 'none'
  for (const { standing } of pruned) {
    before.push(last)
    if (standing !== 'none') last = standing
  }
  const children: TreeNode[] = []
  let next: Standing = 'none'
  for (let at = pruned.length - 1; at >= 0; at--) {
    const { node, standing } = pruned[at]!
    const stays = standing === 'kept' || (standing === 'none' && next !== 'dropped' && before[at] !== 'dropped')
    if (node && stays) children.push(node)
    if (standing !== 'none') next = standing
  }
  return children.toReversed()
}
