/** Converts a tree to GitHub-flavoured Markdown. */
import { withColumnTables } from './column-tables.ts'
import { linkUrl, resolveUrl } from './urls.ts'
import { attribute, childElements, type ElementNode, isElement, type Tree, type TreeNode, visibleText } from './tree.ts'
import { codeBlock, isCode, isCopyButton, withoutLanguage } from './markdown/code.ts'
import { Context, isSkipped } from './markdown/context.ts'
import { escapeHeadingEnd, escapeUrl, escapeText } from './markdown/escape.ts'
import { inlineParagraphs, type LineOptions } from './markdown/inline.ts'
import { withInfoboxes } from './markdown/infoboxes.ts'
import { withListedNotes } from './markdown/inline-notes.ts'
import {
  definitionGroups,
  interruptsParagraph,
  type ItemGroup,
  type ItemMarker,
  ItemNumbers,
  itemsOf,
  taskMark,
} from './markdown/list.ts'
import { formula, isFormula } from './markdown/math.ts'
import { withNestedLists } from './markdown/nested-lists.ts'
import { isRoleTable } from './table-parts.ts'
import { isDataTable, rowsOf, tableMarkdown } from './markdown/table.ts'

const players =
  /(?:youtube(?:-nocookie)?\.com\/embed|player\.vimeo\.com|dailymotion\.com\/embed|open\.spotify\.com\/embed|w\.soundcloud\.com\/player)/

/** Converts a tree to Markdown, deterministically; the text ends with one line feed, or is empty. */
export function toMarkdown(tree: Tree): string {
  const root = withNestedLists(withColumnTables(withInfoboxes(withListedNotes(tree.root))))
  const context = new Context({ ...tree, root })
  new MarkdownWriter(context).children(root)
  return context.blocks.toString()
}

const headingTags = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']

const inParagraph: LineOptions = { breaks: 'hard' }
const inHeading: LineOptions = { breaks: 'space', heading: true }

class MarkdownWriter {
  readonly #context: Context
  readonly #path: ElementNode[] = []
  readonly #holdsHeading = new Map<ElementNode, boolean>()

  constructor(context: Context) {
    this.#context = context
  }

  children(parent: ElementNode, nodes = parent.children as readonly TreeNode[]): void {
    this.#path.push(parent)
    this.#nodes(nodes)
    this.#path.pop()
  }

  /** Writes blocks, and the inline nodes between them as paragraphs. */
  #nodes(nodes: readonly TreeNode[]): void {
    let line: TreeNode[] = []
    /** Items outside a list. */
    let items: TreeNode[] = []
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at]!
      const isItem = isElement(node) && node.tag === 'li'
      const isBlock = !isItem && isElement(node) && (this.#isOwnBlock(node) || this.#context.isBlock(node))
      if (isBlock || (isItem !== items.length > 0 && !(items.length > 0 && isBlank(node)))) {
        this.#flush(line, items)
        if (line.length > 0) line = []
        if (items.length > 0) items = []
      }
      if (isBlock) {
        const end = this.#context.footnotes.endOf(nodes, at)
        this.#block(node, nodes.slice(at + 1, end))
        at = end - 1
      } else if (isItem) items.push(node)
      else line.push(node)
    }
    this.#flush(line, items)
  }

  #flush(line: readonly TreeNode[], items: TreeNode[]): void {
    if (line.length > 0) this.#paragraph(line)
    if (items.length > 0) this.#list({ tag: 'ul', attributes: {}, children: items })
  }

  #isOwnBlock(element: ElementNode): boolean {
    return (isFormula(element) && formula(element).block !== undefined) || (!isSkipped(element) && isCode(element))
  }

  #paragraph(nodes: readonly TreeNode[]): void {
    if (nodes.every(isBlank)) return
    for (const text of inlineParagraphs(nodes, this.#context, inParagraph)) this.#context.blocks.add(text)
  }

  /** Writes a block; `rest` is the text of a footnote whose mark is a heading. */
  #block(element: ElementNode, rest: readonly TreeNode[]): void {
    if (this.#note(element, rest.length > 0 ? rest : element.children)) return
    if (isFormula(element)) return this.#context.blocks.add(formula(element).block ?? '')
    if (isCode(element)) return this.#code(element)
    if (isRoleTable(element)) return this.#table(element)
    const level = headingLevel(element)
    if (level > 0) return this.#heading(element, level)
    switch (element.tag) {
      case 'pre':
        return this.#code(element)
      case 'hr':
        return this.#context.blocks.add('---')
      case 'blockquote':
        return this.#context.blocks.inside('> ', '> ', () => this.children(element))
      case 'ul':
      case 'ol':
      case 'menu':
      case 'dir':
        return this.#list(element)
      case 'dl':
        return this.#definitions(element)
      case 'table':
        return this.#table(element)
      case 'a':
        return this.#linkedBlocks(element)
      case 'summary':
        return this.#strongLine(element)
      case 'iframe':
      case 'video':
      case 'audio':
        return this.#media(element)
      default:
        if (!isCopyButton(element)) this.children(element, withoutLanguage(element))
    }
  }

  /** Writes the nodes of a footnote; returns whether the element is one. */
  #note(element: ElementNode, nodes: readonly TreeNode[]): boolean {
    const { footnotes, blocks } = this.#context
    const label = footnotes.definition(element)
    if (label === undefined) return false
    blocks.inside(label, '    ', () => this.#nodes(footnotes.text(nodes)))
    return true
  }

  #code(element: ElementNode): void {
    const block = codeBlock(element, this.#path)
    if (block !== '') this.#context.blocks.add(block)
  }

  #heading(element: ElementNode, level: number): void {
    const [text] = inlineParagraphs(element.children, this.#context, inHeading)
    if (text) this.#context.blocks.add(`${'#'.repeat(level)} ${escapeHeadingEnd(text)}`)
  }

  #strongLine(element: ElementNode): void {
    if (this.#context.holdsBlock(element)) return this.children(element)
    this.#paragraph([{ tag: 'strong', attributes: {}, children: element.children }])
  }

  /** Links the first heading inside a link, else its first line. */
  #linkedBlocks(element: ElementNode): void {
    const url = linkUrl(element.attributes['href'], this.#context.baseUrl)
    if (url === undefined || this.#context.blockLink !== undefined) return this.children(element)
    this.#context.blockLink = url
    this.#context.headingTakesLink = this.#hasHeading(element)
    this.children(element)
    this.#context.blockLink = undefined
    this.#context.headingTakesLink = false
  }

  #hasHeading(element: ElementNode): boolean {
    let found = this.#holdsHeading.get(element)
    if (found === undefined) {
      const isHeading = (child: ElementNode) => headingLevel(child) > 0 && visibleText(child, 1) !== ''
      found = childElements(element).some((child) => isHeading(child) || this.#hasHeading(child))
      this.#holdsHeading.set(element, found)
    }
    return found
  }

  #list(element: ElementNode): void {
    const groups = itemsOf(element)
    const numbers = element.tag === 'ol' ? new ItemNumbers(element, groups) : undefined
    this.#path.push(element)
    for (let at = 0; at < groups.length;) at = this.#items(groups, at, numbers)
    this.#path.pop()
  }

  /** Writes items from index `at` on; returns the index of one whose number does not follow, and begins another list. */
  #items(groups: readonly ItemGroup[], at: number, numbers: ItemNumbers | undefined): number {
    const { blocks } = this.#context
    let last: ItemMarker | undefined
    const follows = (next: ItemMarker) =>
      !last ||
      (next.letters === undefined
        ? last.letters === undefined && next.number === last.number + 1
        : last.letters !== undefined)
    const start = numbers?.of(groups[at]!.item)
    const isOrdered = start !== undefined && start.letters === undefined
    blocks.list(isOrdered ? start.number : undefined, (marker) => {
      for (; at < groups.length; at++) {
        const group = groups[at]!
        if (group.item && this.#note(group.item, group.nodes)) continue
        const own = numbers?.of(group.item)
        if (own && !follows(own)) break
        if (!this.#bulleted(group, isOrdered ? `${own!.number}${marker} ` : `${marker} `, own?.letters)) continue
        if (own) numbers!.count((last = own))
      }
      return isOrdered && last ? last.number + 1 : undefined
    })
    return at
  }

  /** Writes an item after its bullet; returns whether it is not empty. */
  #bulleted({ item, nodes }: ItemGroup, bullet: string, letters: string | undefined): boolean {
    const { blocks } = this.#context
    const size = blocks.size
    const task = item ? taskMark(item, this.#path.at(-1)!) : ''
    if (letters !== undefined && nodes.every(isBlank)) return false
    const all = letters === undefined ? nodes : startingWith(`${letters} `, nodes)
    blocks.inside(bullet + task, ' '.repeat(bullet.length), () => this.#item({ item, nodes: all }))
    if (blocks.size === size) return false
    blocks.close()
    return true
  }

  /** Writes a nested list directly below the item's text where Markdown allows it. */
  #item({ nodes }: ItemGroup): void {
    const at = nodes.findIndex((node) => isElement(node) && (node.tag === 'ul' || node.tag === 'ol'))
    if (at < 0 || !interruptsParagraph(nodes[at] as ElementNode)) return this.#nodes(nodes)
    const { blocks } = this.#context
    const size = blocks.size
    this.#nodes(nodes.slice(0, at))
    if (blocks.size > size) blocks.close()
    this.#nodes(nodes.slice(at))
  }

  #definitions(element: ElementNode): void {
    const { blocks } = this.#context
    for (const { term, definitions } of definitionGroups(element)) {
      const nodes = definitions.flatMap(({ children }) => children)
      if (term && this.#note(term, nodes)) continue
      if (term) this.#strongLine(term)
      blocks.list(undefined, (marker) => {
        for (const definition of definitions) {
          blocks.inside(`${marker} `, '  ', () => this.children(definition))
          blocks.close()
        }
        return undefined
      })
    }
  }

  #table(element: ElementNode): void {
    const rows = rowsOf(element)
    const caption = childElements(element).find(({ tag }) => tag === 'caption')
    if (caption) this.children(caption)
    if (!isDataTable(element, rows)) {
      for (const row of rows) for (const cell of row.cells) this.children(cell)
      if (rows.length === 0) this.#nodes(element.children.filter((child) => child !== caption))
      return
    }
    const link = this.#context.blockLink
    this.#context.blockLink = undefined
    const text = tableMarkdown(rows, this.#context)
    this.#context.blockLink = link
    if (text !== undefined) this.#context.blocks.add(text)
  }

  /** Writes the content of a readable frame, and players as links to their media. */
  #media(element: ElementNode): void {
    if (element.children.some((child) => isElement(child) && child.tag === 'html')) return this.children(element)
    const source =
      element.attributes['src'] ?? childElements(element).find(({ tag }) => tag === 'source')?.attributes['src']
    const url = source ? resolveUrl(source, this.#context.baseUrl) : undefined
    if (url === undefined || !/^https?:/.test(url)) return
    if (element.tag === 'iframe' && !players.test(url)) return
    const title = visibleText({ text: attribute(element, 'title') || attribute(element, 'aria-label') })
    const text = title || (element.tag === 'audio' ? 'Audio' : 'Video')
    this.#context.blocks.add(`[${escapeText(text, '[', ']', true)}](${escapeUrl(url)})`)
  }
}

function headingLevel({ tag, attributes }: ElementNode): number {
  const known = headingTags.indexOf(tag) + 1
  if (known > 0) return known
  if (attributes['role'] !== 'heading') return 0
  const level = attributes['aria-level'] ?? '2'
  return Math.min(6, Number.parseInt(level, 10) || 0)
}

/** Adds text in front of nodes: into their first paragraph, if they begin with one. */
function startingWith(text: string, nodes: readonly TreeNode[]): TreeNode[] {
  const at = nodes.findIndex((node) => !isBlank(node))
  const first = nodes[at]
  if (!first || !isElement(first) || first.tag !== 'p') return [{ text }, ...nodes]
  return [{ ...first, children: startingWith(text, first.children) }, ...nodes.slice(at + 1)]
}

const isBlank = (node: TreeNode): boolean => !isElement(node) && node.text.trim() === ''
