/** State shared by the modules of the Markdown writer while one tree is written. */
import { type ElementNode, hasClass, isElement, isSilent, type Tree, type TreeNode, wordSet } from '../tree.ts'
import { Blocks } from './blocks.ts'
import { findFootnotes, type Footnotes } from './footnotes.ts'
import { isFormula } from './math.ts'

const blockTags = wordSet(
  'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav ol optgroup p pre search section summary table tbody td tfoot th thead tr ul video audio',
)

export class Context {
  readonly baseUrl: string
  readonly blocks = new Blocks()
  readonly footnotes: Footnotes
  /** The link around the blocks being written; it is applied to the first heading or line. */
  blockLink: string | undefined
  /** Whether the link is applied to a heading inside it, and not to an earlier line. */
  headingTakesLink = false
  readonly #holdsBlock = new Map<ElementNode, boolean>()

  constructor(tree: Tree) {
    this.baseUrl = tree.baseUrl
    this.footnotes = findFootnotes(tree.root)
  }

  /** Whether a node is displayed on its own lines, or contains one that is. */
  isBlock(node: TreeNode): boolean {
    if (!isElement(node) || isSkipped(node) || isFormula(node)) return false
    return isBlockTag(node) || this.holdsBlock(node)
  }

  /** Whether an element contains a block. */
  holdsBlock(element: ElementNode): boolean {
    let found = this.#holdsBlock.get(element)
    if (found === undefined) {
      found = element.children.some((child) => this.isBlock(child))
      this.#holdsBlock.set(element, found)
    }
    return found
  }
}

function isBlockTag({ tag, flow }: ElementNode): boolean {
  if (!blockTags.has(tag)) return flow === 'block' && tag !== 'br' && tag !== 'img'
  return tag !== 'div' || flow === undefined || flow === 'block'
}

/** Whether Markdown omits an element: code and data, closed dialogs, icon fonts, duplicates of formulas. */
export function isSkipped(element: ElementNode): boolean {
  if (isSilent(element)) {
    const checkbox = element.tag === 'input' && /^checkbox$/i.test(element.attributes['type'] ?? '')
    return !checkbox && !isFormula(element)
  }
  const { attributes, tag } = element
  if (attributes['hidden'] !== undefined && attributes['hidden'] !== 'until-found') return true
  if (tag === 'dialog') return attributes['open'] === undefined
  return hasClass(
    element,
    /^(?:material-(?:icons|symbols)\S*|MathJax(?:_\w+)?|mjx-chtml|katex-html|mwe-math-fallback-image\S*)$/,
  )
}
