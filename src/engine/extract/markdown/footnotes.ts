/** Finds footnotes: notes in a text, and the links that refer to them. */
import { decodeUrlPart } from '../../../core/net/urls.ts'
import {
  childElements,
  type ElementNode,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  isPhrasing,
  type TreeNode,
  visibleText,
  wordSet,
} from '../tree.ts'

const noteList =
  /^(?:(?:wp-block-|easy-)?footnotes?(?:-list|_list|-wrapper)?|endnotes?|references|reflist|footnote-definitions?)$/i
const noteRole = /^doc-(?:footnote|endnote)$/
const backText = /^(?:\s|↩|↑|\^|⤴|⏎|↵|⇧|\u{fe0e}|\u200b)*$/u
/** The mark of a note after its links are removed: brackets and arrows. */
const notMarkText = /[^\s[\](){}^↑↩.,:;|]/
/** Elements that can be a note, or contain its mark. */
const noteTags = wordSet('p li div dd dt aside section blockquote')
const headingTag = /^h[1-6]$/
/** Names of elements around the paragraphs of one note. */
const noteName = /^_?(?:ftn|edn|fn|footnote|endnote|note)[-_:.]?[\w-]*\d$/i

export type Footnotes = ReturnType<typeof findFootnotes>

/** Finds notes: items of lists of notes, elements with the role of a note, and those that link back to a mark. */
export function findFootnotes(root: ElementNode) {
  const marks = marksIn(root)
  const page = new Page(root, new Set(marks.map((link) => fragmentOf(link)!)))
  const labels = new Map<ElementNode, string>()
  const noteOf = new Map<ElementNode, ElementNode>()
  for (const link of marks) {
    if (page.inNotes.has(link)) continue
    const note = page.noteFor(link)
    if (!note) continue
    noteOf.set(link, note)
    if (!labels.has(note)) labels.set(note, String(labels.size + 1))
  }
  /** Whether a link leads from a footnote back to its reference. */
  const isBackLink = (link: ElementNode): boolean => page.inNotes.has(link) && (isBack(link) || page.leadsBack(link))
  return {
    /** Links to notes, each with the elements that contain the text of its note. */
    references: [...noteOf].map(([link, note]) => ({ link, elements: page.elementsOfNote(note) })),
    /** Returns `[^1]` when the link refers to a footnote. */
    reference(link: ElementNode): string | undefined {
      const note = noteOf.get(link)
      return note && `[^${labels.get(note)}]`
    },
    /** Returns `[^1]: ` when the element is a footnote. */
    definition(element: ElementNode): string | undefined {
      const label = labels.get(element)
      return label && `[^${label}]: `
    },
    /** Returns the index after the nodes of a footnote whose mark is a heading; after the node itself for others. */
    endOf(nodes: readonly TreeNode[], at: number): number {
      const node = nodes[at]!
      if (!isElement(node) || !headingTag.test(node.tag) || !labels.has(node)) return at + 1
      const next = nodes.findIndex((other, index) => index > at && isElement(other) && headingTag.test(other.tag))
      return next < 0 ? nodes.length : next
    },
    isBackLink,
    /** Returns the text of a footnote: its nodes without its mark and the links back. */
    text: (nodes: readonly TreeNode[]): TreeNode[] => withoutMarks(nodes, isBackLink),
  }
}

/** The elements of a page that links lead to. */
class Page {
  readonly inNotes = new Set<ElementNode>()
  readonly #parents = new Map<ElementNode, ElementNode>()
  readonly #named = new Map<string, ElementNode>()
  /** Ids that short links lead to. */
  readonly #marked: ReadonlySet<string>
  /** Blocks that links in possible notes lead to, because many references may lead to one of them. */
  readonly #linked = new Map<ElementNode, ReadonlySet<ElementNode>>()
  /** Notes by their ids. */
  readonly #notes = new Map<string, ElementNode>()

  constructor(root: ElementNode, marked: ReadonlySet<string>) {
    this.#marked = marked
    if (marked.size === 0) return
    for (const element of elementsOf(root)) {
      const { id, name } = element.attributes
      if (id !== undefined && !this.#named.has(id)) this.#named.set(id, element)
      if (element.tag === 'a' && name !== undefined && !this.#named.has(name)) this.#named.set(name, element)
      for (const child of element.children) if (isElement(child)) this.#parents.set(child, element)
    }
    for (const list of outermost(root, isList)) {
      for (const item of elementsOf(list, (element) => element.tag !== 'li')) if (item.tag === 'li') this.#keep(item)
    }
    for (const element of elementsOf(root)) if (noteRole.test(element.attributes['role'] ?? '')) this.#keep(element)
  }

  /** Returns the note that a mark in the text refers to. */
  noteFor(link: ElementNode): ElementNode | undefined {
    const id = fragmentOf(link)!
    const known = this.#notes.get(id)
    if (known) return known
    const target = this.#named.get(id)
    const mark = target && (this.#blockOf(target) ?? this.#titleOf(target))
    if (!mark || this.inNotes.has(mark) || mark === this.#blockOf(link) || !this.#linksBack(mark, link))
      return undefined
    const outer = this.#parents.get(mark)
    const isOuter = outer && noteTags.has(outer.tag) && noteName.test(outer.attributes['id'] ?? '')
    const note = isOuter ? outer : mark
    this.#keep(note, id)
    return note
  }

  /** Returns the elements with the text of a note: itself, and the definitions of a `<dt>`. */
  elementsOfNote(note: ElementNode): readonly ElementNode[] {
    const isTitle = headingTag.test(note.tag)
    if (note.tag !== 'dt' && !isTitle) return [note]
    const siblings = childElements(this.#parents.get(note)!)
    const after = siblings.slice(siblings.indexOf(note) + 1)
    const next = after.findIndex(({ tag }) => (isTitle ? headingTag.test(tag) : tag === 'dt'))
    return [note, ...(next < 0 ? after : after.slice(0, next))]
  }

  /** Whether a short link in a note leads to the text. */
  leadsBack(link: ElementNode): boolean {
    const id = fragmentOf(link)
    if (id === undefined || !isMark(link)) return false
    const target = this.#named.get(id)
    return !this.#notes.has(id) && !(target && this.inNotes.has(target))
  }

  #keep(note: ElementNode, ...ids: string[]): void {
    const { id } = note.attributes
    const inner = id ?? findElement(note, ({ attributes }) => attributes['id'] !== undefined)?.attributes['id']
    for (const name of [...ids, inner]) if (name !== undefined && !this.#notes.has(name)) this.#notes.set(name, note)
    for (const inside of elementsOf(note)) this.inNotes.add(inside)
  }

  /** Whether a link in `mark`, which is that of one note, leads to the block with the reference. */
  #linksBack(mark: ElementNode, reference: ElementNode): boolean {
    const block = this.#blockOf(reference)
    let linked = this.#linked.get(mark)
    if (!linked) this.#linked.set(mark, (linked = this.#blocksLinkedFrom(mark)))
    return block !== undefined && linked.has(block)
  }

  /** Returns the blocks that links in a note lead to; none if it contains several notes. */
  #blocksLinkedFrom(note: ElementNode): ReadonlySet<ElementNode> {
    const blocks = new Set<ElementNode>()
    let marks = 0
    for (const element of elementsOf(note)) {
      const { id, name } = element.attributes
      if (this.#marked.has(id ?? name ?? '') && ++marks > 1) return new Set()
      const target = element.tag === 'a' ? this.#named.get(fragmentOf(element) ?? '') : undefined
      const block = target && this.#blockOf(target)
      if (block) blocks.add(block)
    }
    return blocks
  }

  /** Returns the heading around an element if its text is the mark of the note below it, as in manuals of Texinfo. */
  #titleOf(element: ElementNode): ElementNode | undefined {
    let at: ElementNode | undefined = element
    while (at && isPhrasing(at)) at = this.#parents.get(at)
    return at && headingTag.test(at.tag) && /^[([]?\d{1,4}[)\].]?$/.test(visibleText(at, 16)) ? at : undefined
  }

  #blockOf(element: ElementNode): ElementNode | undefined {
    for (let at: ElementNode | undefined = element; at; at = this.#parents.get(at))
      if (noteTags.has(at.tag) || /^(?:td|th|h[1-6]|body|main|article)$/.test(at.tag))
        return noteTags.has(at.tag) ? at : undefined
    return undefined
  }
}

/** Returns the links that may refer to notes, in document order. */
function marksIn(element: ElementNode, found: ElementNode[] = []): ElementNode[] {
  if (element.tag === 'a' && fragmentOf(element) !== undefined && isMark(element)) found.push(element)
  for (const child of element.children) if (isElement(child)) marksIn(child, found)
  return found
}

/** Returns the id that a link leads to, on whichever page. */
function fragmentOf({ attributes }: ElementNode): string | undefined {
  const href = attributes['href']
  const at = href?.indexOf('#') ?? -1
  return at < 0 || at + 1 === href!.length ? undefined : decodeUrlPart(href!.slice(at + 1))
}

function withoutMarks(nodes: readonly TreeNode[], isBackLink: (link: ElementNode) => boolean): TreeNode[] {
  const isBack = (element: ElementNode) => element.tag === 'a' && isBackLink(element)
  const isMarked = (node: TreeNode | undefined): boolean =>
    node !== undefined && isElement(node) && (isBack(node) || findElement(node, isBack) !== undefined)
  return nodes.flatMap((node, at): TreeNode[] => {
    if (!isElement(node)) {
      const besideMark = isMarked(nodes[at - 1]) || isMarked(nodes[at + 1])
      if (!besideMark) return [node]
      return [{ text: textBesideMark(node.text, at) }]
    }
    if (isBack(node)) return []
    if (!isMarked(node)) return [node]
    const children = withoutMarks(node.children, isBackLink)
    return isPhrasing(node) && !notMarkText.test(visibleText({ ...node, children }, 24)) ? [] : [{ ...node, children }]
  })
}

function textBesideMark(text: string, at: number): string {
  if (!notMarkText.test(text)) return ' '
  const start = at === 1 ? text.search(/[^\s\])}.:]/) : 0
  return start === 0 ? text : ` ${text.slice(start)}`
}

const isList = (element: ElementNode): boolean =>
  hasClass(element, noteList) ||
  element.attributes['data-footnotes'] !== undefined ||
  (element.attributes['role'] !== undefined && /^doc-(?:endnotes|footnotes?)$/.test(element.attributes['role']))

/** Returns the elements that match and are not inside another match, in document order. */
function outermost(
  element: ElementNode,
  matches: (element: ElementNode) => boolean,
  found: ElementNode[] = [],
): ElementNode[] {
  if (matches(element)) found.push(element)
  else for (const child of element.children) if (isElement(child)) outermost(child, matches, found)
  return found
}

/** Whether the text of a link is short enough for a footnote reference: `1`, `[2]`, `a`, `*`. */
function isMark(link: ElementNode): boolean {
  return /^\[?\s*(?:\d{1,4}|[a-z]{1,2}|[*†‡§¹²³⁴-⁹]|note \d{1,3})\s*\]?$/iu.test(visibleText(link, 16))
}

function isBack(link: ElementNode): boolean {
  if (!link.attributes['href']?.includes('#')) return false
  if (hasClass(link, /back-?ref|backlink|footnote-back|reversefootnote/i)) return true
  if (/^doc-backlink$/.test(link.attributes['role'] ?? '')) return true
  const hasImage = childElements(link).some((child) => isElement(child) && child.tag === 'img')
  return !hasImage && backText.test(visibleText(link, 8))
}
