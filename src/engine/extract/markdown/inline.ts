/** Writes inline content: text, emphasis, links, images, code. */
import { isCell } from '../table-parts.ts'
import { imageUrl, linkUrl } from '../urls.ts'
import {
  childElements,
  type ElementNode,
  hasClass,
  hasText,
  isElement,
  isPhrasing,
  rawText,
  type TreeNode,
  visibleText,
} from '../tree.ts'
import { isAnchor, isSourceLink, unseen } from './anchors.ts'
import { codeText, inlineLines, isCopyButton, isFragment } from './code.ts'
import { type Context, isSkipped } from './context.ts'
import { escapeUrl, escapeText } from './escape.ts'
import { type Breaks, Line } from './line.ts'
import type { Mark } from './line-text.ts'
import { iconLabel, noteLabel } from './icon.ts'
import { type ItemMarker, ItemNumbers, itemsOf, taskBox } from './list.ts'
import { formula, isFormula } from './math.ts'
import { raisedAmount } from './raised-amounts.ts'
import { squeeze } from '../../../core/text/pieces.ts'

const [strong, em, del] = ['strong', 'em', 'del'] as const
const tagMarks = { strong, b: strong, em, i: em, del, s: del, strike: del } satisfies Record<string, Mark>
const marks: ReadonlyMap<string, Mark> = new Map(Object.entries(tagMarks))
/** Whether an element is a label of its own beside others, such as that of a tab. */
const isLabel = ({ tag, attributes }: ElementNode): boolean =>
  tag === 'label' || tag === 'button' || attributes['role'] === 'tab'

/** Whether an element is an empty one that styles draw between two names. */
const isSeparator = (element: ElementNode): boolean =>
  element.children.length === 0 && hasClass(element, /^sep(?:arator)?$/)

/** The small note "opt" behind the name of a parameter. */
const attributesOfJsDoc = /^signature-attributes$/

/** Brackets and separators around references to notes. */
const bracketed = /^[\s[\](),;]*$/

/** Maximum number of characters of a superscript or subscript compared with the link in it. */
const maxNoteLength = 1000

/** The context of a line; it determines how breaks and blocks inside it are written. */
export interface LineOptions {
  readonly breaks: Breaks
  readonly heading?: boolean
}

/** Writes inline nodes as paragraphs. */
export function inlineParagraphs(nodes: readonly TreeNode[], context: Context, options: LineOptions): string[] {
  const line = new Line(options.breaks)
  const [only] = nodes
  // Most cells, items and headings are a single text.
  if (nodes.length === 1 && !isElement(only!) && context.blockLink === undefined) {
    line.text(only!.text)
    return line.paragraphs()
  }
  const writer = new InlineWriter(line, context, options)
  const link = context.headingTakesLink && !options.heading ? undefined : context.blockLink
  if (link === undefined) writer.nodes(nodes)
  else line.linked(link, () => writer.nodes(nodes))
  const paragraphs = line.paragraphs()
  if (link !== undefined && paragraphs.length > 0) context.blockLink = undefined
  return paragraphs
}

class InlineWriter {
  readonly #line: Line
  readonly #context: Context
  readonly #options: LineOptions
  /** Markers of the items of numbered lists in a cell. */
  readonly #markers = new Map<ElementNode, ItemMarker>()

  constructor(line: Line, context: Context, options: LineOptions) {
    this.#line = line
    this.#context = context
    this.#options = options
  }

  nodes(nodes: readonly TreeNode[]): void {
    for (const [at, node] of nodes.entries()) {
      const amount = raisedAmount(nodes, at)
      if (amount !== undefined) this.#line.text(amount)
      else if (isElement(node)) this.#element(node)
      else this.#line.text(node.text)
    }
  }

  #element(element: ElementNode): void {
    if (isFormula(element)) return this.#line.atom(formula(element).inline)
    const inCell = this.#options.breaks === 'tag'
    const label = inCell ? iconLabel(element) : noteLabel(element)
    if (label !== undefined) return this.#line.text(label)
    if (inCell && element.tag === 'input') return this.#line.atom(taskBox(element))
    if (isSkipped(element)) return
    const mark = marks.get(element.tag)
    if (mark !== undefined && !(mark === 'strong' && this.#options.heading)) {
      return this.#line.marked(mark, () => this.nodes(element.children))
    }
    switch (element.tag) {
      case 'br':
        return this.#line.break()
      case 'img':
        return this.#image(element)
      case 'picture':
        return this.#picture(element)
      case 'a':
        return this.#link(element)
      case 'code':
      case 'tt':
        this.#code(element)
        // TypeDoc has "Optional" before the name of a parameter.
        return hasClass(element, /^tsd-tag$/) ? this.#line.space() : undefined
      case 'sub':
      case 'sup':
      case 'kbd':
        return this.#tagged(element)
      case 'cite':
        this.nodes(element.children)
        // The author of a quotation, above its text.
        return /:\s*$/.test(rawText(element)) ? this.#line.break() : undefined
      case 'q':
        return this.#enclosed('“', element, '”')
      case 'rp':
        return
      case 'rt':
        // Pronunciations get parentheses, also where the page has no `<rp>`.
        return this.#enclosed('(', element, ')')
      case 'li':
        return this.#item(element)
      case 'ol':
        this.#number(element)
        break
      case 'pre':
        return this.#preformatted(element)
      case 'tr':
        return this.#row(element)
      case 'div':
        if (isFragment(element)) return this.#preformatted(element)
        break
      case 'button':
        if (isCopyButton(element)) return
    }
    this.#plain(element)
  }

  /** Separates a block in a line by breaks, and elements laid out side by side by spaces. */
  #plain(element: ElementNode): void {
    const block = this.#context.isBlock(element) && element.flow !== 'apart'
    const gap = () => {
      if (block) this.#line.break()
      else if (
        !isPhrasing(element) ||
        isLabel(element) ||
        isCell(element) ||
        hasClass(element, unseen) ||
        isSeparator(element)
      )
        this.#line.space()
    }
    gap()
    if (hasClass(element, attributesOfJsDoc)) this.#line.space()
    this.nodes(element.children)
    gap()
  }

  #item(element: ElementNode): void {
    this.#line.break()
    if (this.#options.breaks === 'tag' && hasText(element)) this.#line.marker(this.#markerOf(element))
    this.nodes(element.children)
    this.#line.break()
  }

  #markerOf(item: ElementNode): string {
    const marker = this.#markers.get(item)
    return marker ? `${marker.letters ?? `${marker.number}.`} ` : '- '
  }

  /** Numbers the items of a list in a cell. */
  #number(list: ElementNode): void {
    const groups = itemsOf(list)
    const numbers = new ItemNumbers(list, groups)
    for (const { item } of groups) {
      const marker = numbers.of(item)
      if (!item || !hasText(item)) continue
      this.#markers.set(item, marker)
      numbers.count(marker)
    }
  }

  /** Writes a row of a table in a cell as a line. */
  #row(element: ElementNode): void {
    this.#line.break()
    for (const cell of childElements(element)) {
      this.#line.space()
      this.nodes(isCell(cell) ? cell.children : [cell])
    }
    this.#line.break()
  }

  #preformatted(element: ElementNode): void {
    this.#line.break()
    for (const text of codeText(element).split('\n')) {
      if (text.trim() === '') continue
      this.#line.code(text.trim())
      this.#line.break()
    }
  }

  #link(element: ElementNode): void {
    const { href } = element.attributes
    const reference = this.#context.footnotes.reference(element)
    if (reference !== undefined) return this.#line.atom(reference)
    if (this.#context.footnotes.isBackLink(element)) return
    const inHeading = this.#options.heading === true
    if (isAnchor(element, inHeading) || isSourceLink(element, inHeading)) return
    this.#line.linked(linkUrl(href, this.#context.baseUrl), () => this.nodes(element.children))
  }

  #image(element: ElementNode, picture?: ElementNode): void {
    const url = imageUrl(element, this.#context.baseUrl, picture)
    if (url === undefined) {
      // Marks in tables are often inline images.
      const isMark = this.#options.breaks === 'tag' && /^data:/i.test(element.attributes['src'] ?? '')
      return isMark ? this.#line.text(element.attributes['alt'] ?? '') : undefined
    }
    if (hasClass(element, /^avatar$/) && !element.attributes['alt']) return
    const alt = escapeText(squeeze(element.attributes['alt'] ?? ''), '[', ']', true)
    this.#line.atom(`![${alt}](${escapeUrl(url)})`)
  }

  #picture(element: ElementNode): void {
    const image = childElements(element).find(({ tag }) => tag === 'img')
    if (image) this.#image(image, element)
  }

  #code(element: ElementNode): void {
    const inside = element.children.filter((child) => isElement(child) || child.text.trim() !== '')
    const [only] = inside
    // A link inside a code span is written around it, because a code span cannot contain markup.
    if (inside.length === 1 && only && isElement(only) && only.tag === 'a') {
      const url = linkUrl(only.attributes['href'], this.#context.baseUrl)
      return this.#line.linked(url, () => this.#span(only))
    }
    this.#span(element)
  }

  /** Writes a code span for each line, because a code span cannot contain line breaks. */
  #span(element: ElementNode): void {
    for (const [at, text] of inlineLines(element).entries()) {
      if (at > 0) this.#line.break()
      this.#spanLine(text)
    }
  }

  #spanLine(text: string): void {
    if (text.trim() === '') return this.#line.text(text)
    if (text.startsWith(' ')) this.#line.space()
    this.#line.code(text.trim())
    if (text.endsWith(' ')) this.#line.space()
  }

  /** Keeps `<sub>`, `<sup>` and `<kbd>` as tags, as on GitHub, but not around a link. */
  #tagged(element: ElementNode): void {
    const links = childElements(element).filter((child) => child.tag === 'a')
    const notes = links.filter((link) => this.#context.footnotes.reference(link) !== undefined)
    const others = element.children.filter((child) => !(isElement(child) && notes.includes(child)))
    if (notes.length > 0 && bracketed.test(visibleText({ ...element, children: others }, maxNoteLength)))
      return this.nodes(notes)
    const bare =
      visibleText(element, 1) === '' ||
      (links[0] && visibleText(links[0], maxNoteLength) === visibleText(element, maxNoteLength))
    if (bare) return this.nodes(element.children)
    this.#line.atom(`<${element.tag}>`)
    this.nodes(element.children)
    this.#line.end(`</${element.tag}>`)
  }

  #enclosed(open: string, { children }: ElementNode, close: string): void {
    this.#line.text(open)
    this.nodes(children)
    this.#line.end(close)
  }
}
