/** Converts the pages of a PDF to the nodes of a document. */
import type { TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { tableOf } from './tables/table-nodes.ts'
import { furnitureOf } from './furniture.ts'
import { bodySize, headingOf, levelsOf } from './text/headings.ts'
import { areSeparate, compoundsOf, inlineOf } from './text/join-lines.ts'
import { ListBuilder } from './text/list-nodes.ts'
import type { PageContent } from './page/page-content.ts'
import { isTextPart, type Part, partsOf, withSplitLists } from './parts.ts'
import { hasHeadings } from './tagged.ts'

/** Returns a section for each page, with rules between them. */
export function nodesOf(pages: readonly PageContent[]): TreeNode[] {
  const body = bodySize(segmentsIn(pages))
  const furniture = furnitureOf(pages, body)
  const compounds = compoundsOf(textsIn(pages))
  const parts = withSplitLists(pages.map((page) => partsOf(page, furniture, body)))
  const declares = pages.some(({ structure }) => structure && hasHeadings(structure))
  const headings = headingsOf(parts.flat(), body, declares)
  const sections = parts.map((list) => elementAround('section', pageNodes(list, headings, compounds)))
  return sections.flatMap((section, at) => (at === 0 ? [section] : [element('hr', {}), section]))
}

function* segmentsIn(pages: readonly PageContent[]) {
  for (const { layers } of pages) for (const layer of layers) yield* layer
}

function* textsIn(pages: readonly PageContent[]) {
  for (const { text } of segmentsIn(pages)) yield text
}

/** Returns the levels of headings, as declared or by their looks. */
function headingsOf(parts: readonly Part[], body: number, declares: boolean): Map<Part, number> {
  const levels = new Map<Part, number>()
  const found = parts.flatMap((part) => {
    if (!isTextPart(part)) return []
    if (part.level !== undefined) levels.set(part, part.level)
    if (part.depth !== undefined || (declares && part.isTagged)) return []
    const candidate = headingOf(part.paragraph, body)
    return candidate ? [{ part, candidate }] : []
  })
  const levelOf = levelsOf(found.map(({ candidate }) => candidate))
  for (const { part, candidate } of found) levels.set(part, levelOf(candidate))
  return levels
}

function pageNodes(
  parts: readonly Part[],
  headings: ReadonlyMap<Part, number>,
  compounds: ReadonlySet<string>,
): TreeNode[] {
  const nodes: TreeNode[] = []
  const list = new ListBuilder(compounds)
  const flush = () => nodes.push(...list.end())
  for (const part of parts) {
    if (!isTextPart(part)) {
      flush()
      nodes.push(tableOf(part, compounds))
      continue
    }
    const { lines, marker } = part.paragraph
    const level = headings.get(part)
    if (level === undefined && marker) {
      if (!list.accepts(part)) flush()
      list.add(part)
      continue
    }
    flush()
    nodes.push(
      elementAround(
        level === undefined ? 'p' : `h${level}`,
        inlineOf(lines, compounds, { breaks: level === undefined && areSeparate(lines) }),
      ),
    )
  }
  flush()
  return nodes
}
