/** Splits a tree into blocks: runs of text between two line breaks of the layout. */
import { type ElementNode, isElement, isPhrasing, isSilent, oneLine, type TextNode, type TreeNode } from '../tree.ts'
import { contextOf } from './features/context.ts'
import { type NameFacts, nameFactsOf } from './features/name-facts.ts'
import { measureText, type TextMeasure } from './features/text-measure.ts'
import { factsOf, type TextFacts } from './features/text-facts.ts'
import { kinds, kindsOf } from './features/topics.ts'

/** An element that contains blocks. */
export interface Box {
  readonly element: ElementNode
  readonly parent: Box | undefined
  readonly depth: number
  /** Bits of context.ts: the contexts of the box, itself included. */
  readonly context: number
  /** Facts of its classes, id and role. */
  readonly names: NameFacts
  /** Per kind of topics.ts: the depth, plus one, of the nearest enclosing box (or itself) of that kind; 0 for none. */
  readonly kinds: Uint8Array
  /** Its blocks: from `first` up to but not including `end`. */
  readonly first: number
  end: number
  /** Number of images and other media in it. */
  media: number
  /** Child boxes with text. */
  readonly boxes: Box[]
}

export interface Block {
  readonly index: number
  readonly box: Box
  readonly nodes: readonly TextNode[]
  /** The text as one line. */
  readonly text: string
  readonly measure: TextMeasure
  readonly facts: TextFacts
  readonly linkWords: number
  readonly links: number
  /** Number of bold or emphasized words. */
  readonly strongWords: number
  /** The first element in the line. */
  readonly lead: ElementNode | undefined
  /** Whether the block starts inside a link. */
  readonly linked: boolean
}

export type Segments = Readonly<Pick<Segmenter, 'blocks' | 'boxes'>>

const emphases = new Set(['b', 'strong', 'em', 'i', 'u', 'mark'])
const media = new Set(['img', 'picture', 'video', 'audio', 'iframe', 'svg', 'canvas', 'object', 'embed'])
/** Silent elements that may contain content: `<noscript>`, and a `<head>` that was never closed. */
export const silentWithContent: ReadonlySet<string> = new Set(['noscript', 'head'])
const rowLimit = 400
const noKinds = new Uint8Array(kinds.length)

class Segmenter {
  readonly blocks: Block[] = []
  readonly boxes: Box[] = []
  private nodes: TextNode[] = []
  private linkText = ''
  private strongText = ''
  private links = 0
  private breaks = 0
  private lead: ElementNode | undefined
  private linkDepth = 0
  private strongDepth = 0
  private startedInLink = false

  enter(element: ElementNode, parent: Box | undefined): void {
    const context = contextOf(element, parent?.context ?? 0)
    const depth = (parent?.depth ?? -1) + 1
    const names = nameFactsOf(element)
    const box: Box = {
      element,
      parent,
      depth,
      context,
      names,
      kinds: markKinds(element, names, depth, parent?.kinds ?? noKinds),
      first: this.blocks.length,
      end: 0,
      media: 0,
      boxes: [],
    }
    this.boxes.push(box)
    if (element.tag === 'tr' && isPlainRow(element)) this.row(element, box)
    else for (const child of element.children) this.visit(child, box)
    this.flush(box)
    box.end = this.blocks.length
    if (box.end === box.first) this.boxes.pop()
    else parent?.boxes.push(box)
    if (parent) parent.media += box.media
  }

  private visit(node: TreeNode, box: Box): void {
    if (!isElement(node)) return this.text(node)
    if (media.has(node.tag)) box.media++
    if (node.tag === 'br' && ++this.breaks > 1) this.flush(box)
    if (isSilent(node) && !silentWithContent.has(node.tag)) return
    if (node.tag === 'dialog' && node.attributes['open'] === undefined) return
    if (isPhrasing(node)) this.inline(node, box)
    else if (node.children.length > 0) {
      this.flush(box)
      this.enter(node, box)
    }
  }

  private inline(element: ElementNode, box: Box): void {
    const link = element.tag === 'a' && element.attributes['href'] !== undefined
    const strong = emphases.has(element.tag)
    if (link) {
      this.linkDepth++
      this.links++
    }
    if (strong) this.strongDepth++
    this.lead ??= element
    for (const child of element.children) this.visit(child, box)
    if (link) this.linkDepth--
    if (strong) this.strongDepth--
  }

  private row(row: ElementNode, box: Box): void {
    for (const cell of row.children) {
      if (!isElement(cell)) continue
      for (const child of cell.children) this.visit(child, box)
      this.text({ text: ' ' })
    }
  }

  private text(node: TextNode): void {
    if (!/\S/.test(node.text)) {
      if (this.nodes.length > 0) this.nodes.push(node)
      return
    }
    this.breaks = 0
    if (this.nodes.length === 0) this.startedInLink = this.linkDepth > 0
    this.nodes.push(node)
    if (this.linkDepth > 0) this.linkText += ` ${node.text}`
    if (this.strongDepth > 0) this.strongText += ` ${node.text}`
  }

  private flush(box: Box): void {
    this.breaks = 0
    if (this.nodes.length > 0) {
      let text = ''
      for (const node of this.nodes) text += node.text
      const facts = factsOf(oneLine(text).trim())
      const { measure } = facts
      const linkWords = this.linkText === '' ? 0 : Math.min(measureText(this.linkText).words, measure.words)
      const strongWords = this.strongText === '' ? 0 : Math.min(measureText(this.strongText).words, measure.words)
      this.blocks.push({
        index: this.blocks.length,
        box,
        nodes: this.nodes,
        text: facts.text,
        measure,
        facts,
        linkWords,
        strongWords,
        links: Math.max(this.links, this.startedInLink ? 1 : 0),
        lead: this.lead,
        linked: this.startedInLink,
      })
      this.nodes = []
      this.linkText = this.strongText = ''
    }
    this.links = 0
    this.lead = undefined
  }
}

/** Adds the kinds of an element to those of its ancestors, except for names of the whole document. */
function markKinds(element: ElementNode, names: NameFacts, depth: number, around: Uint8Array): Uint8Array {
  if (element.tag === 'html' || element.tag === 'body') return around
  const own = kindsOf(element, names.kinds)
  if (own === 0) return around
  const marks = around.slice()
  for (let kind = 0; kind < marks.length; kind++) if ((own >> kind) & 1) marks[kind] = Math.min(255, depth + 1)
  return marks
}

/** Whether a table row reads as one line: short cells without blocks. */
function isPlainRow(row: ElementNode): boolean {
  let length = 0
  const isPlain = (node: TreeNode): boolean => {
    if (!isElement(node)) return (length += node.text.length) <= rowLimit
    return (
      (isPhrasing(node) || isSilent(node) || node.tag === 'br' || media.has(node.tag)) && node.children.every(isPlain)
    )
  }
  const cells = row.children.filter(isElement)
  return cells.length > 1 && cells.every((cell) => cell.children.every(isPlain))
}

/** Returns the blocks of a tree in document order. */
export function segment(root: ElementNode): Segments {
  const segmenter = new Segmenter()
  segmenter.enter(root, undefined)
  return segmenter
}
