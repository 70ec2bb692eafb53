/** Paragraphs and tables of a page, before headings are decided over the whole document. */
import { isTable, type Block, type Line, type TableBlock } from './blocks.ts'
import { blocksOf } from './page-layout.ts'
import type { PageContent, Segment } from './page/page-content.ts'
import { areNeighbours, markerOf } from './text/lists.ts'
import { isHyphenated, type Paragraph, paragraphsOf } from './text/paragraphs.ts'
import { taggedParts } from './tagged.ts'

export interface TextPart {
  readonly paragraph: Paragraph
  /** Level of a heading that a structure tree declares. */
  readonly level?: number
  /** Level of an item of a list that a structure tree declares. */
  readonly depth?: number
  readonly isTagged?: boolean
}

export type Part = TextPart | TableBlock

export const isTextPart = (part: Part): part is TextPart => 'paragraph' in part

/** Text smaller than the usual one by this factor may be a footnote. */
const smaller = 0.93
const noteStart = /^(?:\d{1,3}|[*†‡§¶∗])\s*\S/

export function partsOf(
  { layers, rules, structure }: PageContent,
  furniture: ReadonlySet<Segment>,
  body: number,
): Part[] {
  const [main = [], ...others] = layers.map((layer) => layer.filter((segment) => !furniture.has(segment)))
  const tagged = structure && taggedParts(structure, main)
  const parts = tagged?.parts ?? []
  const rest = tagged?.rest ?? main
  const blocks = [blocksOf(rest, tagged ? [] : rules), ...others.map((layer) => blocksOf(layer, []))].flat()
  return [...parts, ...partsOfBlocks(blocks, body)]
}

/** Footnotes of columns come after the text, so that a paragraph continues in the next column. */
function partsOfBlocks(blocks: readonly Block[], body: number): Part[] {
  const parts: Part[] = []
  const notes: Part[] = []
  for (const block of blocks) {
    if (isTable(block)) {
      parts.push(block)
      continue
    }
    const at = notesStart(block.lines, body)
    addParagraphs(parts, paragraphsOf(block.lines.slice(0, at)))
    if (at < block.lines.length)
      notes.push(...noteParagraphs(block.lines.slice(at)).map((paragraph) => ({ paragraph })))
  }
  return [...parts, ...notes]
}

/** Returns the index of the first line of the footnotes below a column. */
function notesStart(lines: readonly Line[], body: number): number {
  let at = lines.length
  while (at > 0 && lines[at - 1]!.size < body * smaller) at--
  return at > 0 && at < lines.length && noteStart.test(lines[at]!.text) ? at : lines.length
}

function noteParagraphs(lines: readonly Line[]): Paragraph[] {
  const paragraphs: Paragraph[] = []
  for (const line of lines) {
    const isStart = line.runs[0]?.raised === 'sup' || (noteStart.test(line.text) && !/^\d+\s/.test(line.text))
    const last = paragraphs.at(-1)
    if (last && !isStart) last.lines.push(line)
    else paragraphs.push({ lines: [line] })
  }
  return paragraphs
}

/** Adds paragraphs; the first continues the last one if that has no end. */
function addParagraphs(parts: Part[], [first, ...more]: readonly Paragraph[]): void {
  const last = parts.at(-1)
  const open = last && isTextPart(last) ? last.paragraph.lines : undefined
  if (first && open && !first.marker && continuesColumn(open.at(-1)!, first.lines[0]!)) open.push(...first.lines)
  else if (first) parts.push({ paragraph: first })
  parts.push(...more.map((paragraph) => ({ paragraph })))
}

const continuesColumn = (last: Line, next: Line): boolean =>
  Math.abs(last.size - next.size) < last.size * 0.06 &&
  last.bold === next.bold &&
  /^\p{Ll}/u.test(next.text) &&
  (isHyphenated(last.text) || /[\p{L}\d,]$/u.test(last.text))

/** Finds items of lists that are alone in their column or on their page, next to others of the list. */
export function withSplitLists(pages: readonly (readonly Part[])[]): Part[][] {
  let last: { page: Part[]; part: TextPart } | undefined
  const found: Part[][] = []
  for (const parts of pages) {
    const page: Part[] = []
    found.push(page)
    for (const part of parts) {
      let added = part
      if (isTextPart(part) && !part.isTagged) {
        const [before, marker] = [last && markerIn(last.part), markerIn(part)]
        if (last && before && marker && areNeighbours(before, marker) && marker.number >= before.number) {
          added = withMarker(part, marker)
          if (!last.part.paragraph.marker) last.page[last.page.indexOf(last.part)] = withMarker(last.part, before)
        }
      }
      page.push(added)
      last = isTextPart(added) ? { page, part: added } : undefined
    }
  }
  return found
}

const markerIn = ({ paragraph: { lines, marker } }: TextPart) => marker ?? markerOf(lines[0]!.text)

const withMarker = (part: TextPart, marker: Paragraph['marker']): TextPart => ({
  ...part,
  paragraph: { ...part.paragraph, marker },
})
