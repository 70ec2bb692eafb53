/** Reads the structure tree of tagged PDFs: headings, lists and tables in their order, as the author marked them. */
import type { Cell, Line, TableBlock } from './blocks.ts'
import { linesOf } from './lines.ts'
import { markerOf } from './text/lists.ts'
import { boxAround, type Segment, type StructureNode } from './page/page-content.ts'
import type { Part } from './parts.ts'

/** Share of the text of a page that its structure tree must contain. */
const leastCovered = 0.8
const maxLevels = 64

const blockRole =
  /^(?:P|H[1-6]?|Title|L|LI|LBody|Lbl|Table|THead|TBody|TFoot|TR|TH|TD|Caption|Figure|Formula|BlockQuote|Note|FENote|TOC|TOCI|Div|Sect|Part|Art|Document|Index|Aside)$/

/** Returns the parts of a page by its structure tree, and the segments that are not in it; undefined without a usable tree. */
export function taggedParts(
  tree: StructureNode,
  segments: readonly Segment[],
): { parts: Part[]; rest: Segment[] } | undefined {
  const byMark = new Map<number, Segment[]>()
  for (const segment of segments) {
    const list = byMark.get(segment.mark)
    if (list) list.push(segment)
    else byMark.set(segment.mark, [segment])
  }
  const walker = new Walker(byMark)
  walker.walk(tree, 0)
  walker.flush()
  const chars = (list: readonly Segment[]) => list.reduce((sum, { text }) => sum + text.length, 0)
  const rest = segments.filter(({ mark }) => !walker.used.has(mark))
  return walker.parts.length > 0 && chars(rest) <= chars(segments) * (1 - leastCovered)
    ? { parts: walker.parts, rest }
    : undefined
}

export const hasHeadings = (node: StructureNode, depth = 0): boolean =>
  /^(?:H[1-6]?|Title)$/.test(node.role ?? '') ||
  (depth < maxLevels && (node.children ?? []).some((child) => hasHeadings(child, depth + 1)))

const hasBlock = (node: StructureNode, depth = 0): boolean =>
  depth < maxLevels &&
  (node.children ?? []).some((child) => blockRole.test(child.role ?? '') || hasBlock(child, depth + 1))

class Walker {
  readonly parts: Part[] = []
  readonly used = new Set<number>()
  readonly #byMark: ReadonlyMap<number, readonly Segment[]>
  #inline: Segment[] = []
  #listDepth = 0

  constructor(byMark: ReadonlyMap<number, readonly Segment[]>) {
    this.#byMark = byMark
  }

  walk(node: StructureNode, depth: number): void {
    if (depth > maxLevels) return
    const role = node.role ?? ''
    if (node.type === 'content') this.#inline.push(...this.#take(node))
    else if (role === 'Table') this.#table(node)
    else if (role === 'L') this.#list(node, depth)
    else if (role === 'LI' && this.#listDepth > 0) this.#item(node, depth)
    else this.#other(node, role, depth)
  }

  flush(level?: number): void {
    const lines = linesOf(this.#inline)
    this.#inline = []
    if (lines.length > 0)
      this.parts.push({ paragraph: { lines }, isTagged: true, ...(level !== undefined && { level }) })
  }

  #other(node: StructureNode, role: string, depth: number): void {
    const heading = /^H([1-6])$/.exec(role)?.[1]
    const level = heading ? Number(heading) : role === 'H' || role === 'Title' ? 1 : undefined
    const isBlock = blockRole.test(role) || hasBlock(node)
    if (isBlock) this.flush()
    for (const child of node.children ?? []) this.walk(child, depth + 1)
    if (isBlock) this.flush(level)
    const alt = node.alt?.trim()
    if (role === 'Figure' && alt) this.parts.push({ paragraph: { lines: [altLine(alt)] }, isTagged: true })
  }

  #list(node: StructureNode, depth: number): void {
    this.flush()
    this.#listDepth++
    for (const child of node.children ?? []) this.walk(child, depth + 1)
    this.flush()
    this.#listDepth--
  }

  #item(node: StructureNode, depth: number): void {
    this.flush()
    const label = (node.children ?? []).find(({ role }) => role === 'Lbl')
    const labelText = label
      ? linesOf(this.#segments(label))
          .map(({ text }) => text)
          .join(' ')
      : ''
    const content: Segment[] = []
    const nested: StructureNode[] = []
    const gather = (child: StructureNode, level: number) => {
      if (child.role === 'L' || child.role === 'Table') nested.push(child)
      else if (child.type === 'content') content.push(...this.#take(child))
      else if (level < maxLevels) for (const one of child.children ?? []) gather(one, level + 1)
    }
    gather({ children: node.children ?? [] }, 0)
    const lines = linesOf(content)
    const text = lines[0]?.text ?? ''
    // The label may be a picture, or a letter, which Markdown has no marker for.
    const marker = markerOf(text) ?? {
      kind: 'bullet',
      length: /^[^\p{L}\p{N}]\s/u.test(text) && labelText.length === 1 ? 2 : 0,
      number: 0,
    }
    if (lines.length > 0) this.parts.push({ paragraph: { lines, marker }, isTagged: true, depth: this.#listDepth - 1 })
    for (const one of nested) this.walk(one, depth + 1)
  }

  #table(node: StructureNode): void {
    this.flush()
    const rows: Cell[][] = []
    const segments: Segment[] = []
    const visit = (one: StructureNode, depth: number) => {
      if (depth > maxLevels) return
      if (one.role === 'TR') {
        const cells = (one.children ?? []).filter(({ role }) => role === 'TH' || role === 'TD')
        const texts = cells.map((cell) => this.#segments(cell))
        segments.push(...texts.flat())
        rows.push(texts.map((text) => ({ lines: linesOf(text) })))
      } else if (one.role === 'Caption') {
        this.#inline.push(...this.#segments(one))
        this.flush()
      } else for (const child of one.children ?? []) visit(child, depth + 1)
    }
    visit(node, 0)
    const filled = rows.filter((row) => row.some(({ lines }) => lines.length > 0))
    if (filled.length > 0) this.parts.push({ ...boxAround(segments), rows: filled } satisfies TableBlock)
  }

  /** Returns all text in an element. */
  #segments(node: StructureNode, depth = 0): readonly Segment[] {
    if (node.type === 'content') return this.#take(node)
    return depth > maxLevels ? [] : (node.children ?? []).flatMap((child) => this.#segments(child, depth + 1))
  }

  #take({ id = '' }: StructureNode): readonly Segment[] {
    const mark = Number(/_mc(\d+)$/.exec(id)?.[1] ?? -2)
    this.used.add(mark)
    return this.#byMark.get(mark) ?? []
  }
}

const altLine = (alt: string): Line => {
  const text = `[${alt}]`
  return { left: 0, right: 0, top: 0, bottom: 0, size: 0, bold: false, runs: [{ text }], text }
}
