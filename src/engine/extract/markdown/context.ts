/** State shared by the modules of the Markdown writer while one tree is written. */
import { isScriptListing } from './code.ts'
import {
  type ElementNode,
  hasClass,
  isElement,
  isSilent,
  type Tree,
  type TreeNode,
  visibleText,
  wordSet,
} from '../tree.ts'
import { findFootnotes, type Footnotes } from './footnotes.ts'
import { isFormula } from './math.ts'

const blockTags = wordSet(
  'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav ol optgroup p pre search section summary table tbody td tfoot th thead tr ul video audio',
)

/** Maximum indentation, in characters; deeper quotes and lists are not indented further. */
const maxPrefixLength = 48

/** Blocks written one after another, inside quotes and list items. */
class Blocks {
  readonly #out: string[] = []
  #prefix = ''
  /** Prefix of the next line when it is the first of a list item. */
  #firstPrefix: string | undefined
  /** Prefix of the blank line before the next block. */
  #gapPrefix = ''
  #gap: 'none' | 'line' | 'blank' = 'none'
  #lastList: { prefix: string; marker: string; next: number | undefined } | undefined

  /** Adds a block of one or more lines. */
  add(block: string): void {
    if (this.#gap === 'blank') this.#out.push(`\n${this.#gapPrefix.trimEnd()}\n`)
    else if (this.#gap === 'line') this.#out.push('\n')
    let prefix = this.#firstPrefix ?? this.#prefix
    for (let from = 0, end = 0; end >= 0; from = end + 1, prefix = this.#prefix) {
      end = block.indexOf('\n', from)
      const line = end < 0 ? block.slice(from) : block.slice(from, end)
      if (from > 0) this.#out.push('\n')
      this.#out.push(line === '' ? prefix.trimEnd() : prefix + line)
    }
    this.#firstPrefix = undefined
    this.#gapPrefix = this.#prefix
    this.#gap = 'blank'
    this.#lastList = undefined
  }

  /** Prefixes the lines that `content` adds: the first one with `first`, all others with `rest`. */
  inside(first: string, rest: string, content: () => void): void {
    if (this.#prefix.length + rest.length > maxPrefixLength) return content()
    const saved = { prefix: this.#prefix, first: this.#firstPrefix, count: this.#out.length }
    this.#firstPrefix = (this.#firstPrefix ?? this.#prefix) + first
    this.#prefix += rest
    content()
    const wrote = this.#out.length > saved.count
    this.#prefix = saved.prefix
    this.#firstPrefix = wrote ? undefined : saved.first
    if (wrote) this.#gapPrefix = saved.prefix
  }

  /**
   * Writes the items of a list; adjacent lists get different markers, unless the first number of the list continues that
   * of the one before. `items` returns the number after the last item.
   */
  list(first: number | undefined, items: (marker: string) => number | undefined): void {
    const [usual, other] = first === undefined ? ['-', '*'] : ['.', ')']
    const prefix = this.#prefix
    const before = this.#lastList?.prefix === prefix ? this.#lastList : undefined
    const continues = first !== undefined && before?.next === first
    if (continues) this.close()
    const marker = continues ? before.marker : before?.marker === usual ? other! : usual!
    const count = this.#out.length
    const next = items(marker)
    if (this.#out.length === count) return
    this.#lastList = { prefix, marker, next }
    this.#gap = 'blank'
  }

  /** Lets the next block follow without a blank line. */
  close(): void {
    if (this.#gap === 'blank') this.#gap = 'line'
  }

  /** Number of chunks written so far. */
  get size(): number {
    return this.#out.length
  }

  toString(): string {
    return this.#out.length === 0 ? '' : `${this.#out.join('')}\n`
  }
}

export class Context {
  readonly baseUrl: string
  readonly blocks = new Blocks()
  readonly footnotes: Footnotes
  /** The link around the blocks being written; it is applied to the first heading or line. */
  blockLink: string | undefined
  /** Whether the link is applied to a heading inside it, and not to an earlier line. */
  headingTakesLink = false
  readonly #holdsBlock = new Map<ElementNode, boolean>()
  readonly #isBlock = new Map<ElementNode, boolean>()

  constructor(tree: Tree) {
    this.baseUrl = tree.baseUrl
    this.footnotes = findFootnotes(tree.root)
  }

  /** Whether a node is displayed on its own lines, or contains one that is. */
  isBlock(node: TreeNode): boolean {
    if (!isElement(node)) return false
    let found = this.#isBlock.get(node)
    if (found === undefined) {
      found = !isSkipped(node) && !isFormula(node) && (isBlockTag(node) || this.holdsBlock(node))
      this.#isBlock.set(node, found)
    }
    return found
  }

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

/** Whether Markdown omits an element: code and data, closed dialogs, icon fonts, duplicates of formulas, edit links. */
export function isSkipped(element: ElementNode): boolean {
  if (isSilent(element)) {
    const checkbox = element.tag === 'input' && /^checkbox$/i.test(element.attributes['type'] ?? '')
    return !checkbox && !isFormula(element) && !isScriptListing(element)
  }
  const { attributes, tag } = element
  if (attributes['hidden'] !== undefined && attributes['hidden'] !== 'until-found') return true
  if (tag === 'dialog') return attributes['open'] === undefined
  if (isHiddenLabel(element) || isFilter(element)) return true
  return hasClass(element, skippedClass)
}

/** Whether tabs only filter one panel, such as the methods of a class in Javadoc. */
function isFilter({ attributes, children }: ElementNode): boolean {
  if (attributes['role'] !== 'tablist') return false
  const panels = children.filter(isElement).map((tab) => tab.attributes['aria-controls'])
  return panels.length > 1 && !!panels[0] && panels.every((panel) => panel === panels[0])
}

/** Maximum length of a hidden key for sorting or a label for small screens, in characters; longer text is shown on demand. */
const maxHiddenLabel = 40

function isHiddenLabel(element: ElementNode): boolean {
  if (element.tag !== 'span' || !/display\s*:\s*none/i.test(element.attributes['style'] ?? '')) return false
  const { length } = visibleText(element, maxHiddenLabel)
  return length > 0 && length < maxHiddenLabel
}

const skippedClass =
  /^(?:mw-editsection|editsection|material-(?:icons|symbols)\S*|MathJax(?:_\w+)?|mjx-chtml|katex-html|mwe-math-fallback-image\S*|toolbar_item)$/
