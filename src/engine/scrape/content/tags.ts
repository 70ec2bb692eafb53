/** Limits a page to the elements in `include_tags`, without those in `exclude_tags`. */
import { type ElementNode, isElement } from '../../extract/tree.ts'
import type { PageDocument } from '../documents/document.ts'
import { compileSelectors, type SelectorQuery } from '../formats/attributes/selectors.ts'
import { compilePatterns, isPattern } from './tag-patterns.ts'

export interface TagQueries {
  readonly include: readonly SelectorQuery[]
  readonly exclude: readonly SelectorQuery[]
}

/** Returns the limited page, with a warning if the selectors have no effect or no element matches. */
export function limitToTags(document: PageDocument, tags: TagQueries): { document: PageDocument; warning?: string } {
  if (!document.isPage)
    return { document, warning: 'include_tags and exclude_tags are ignored: the content is not HTML' }
  const root = selectElements(document.tree.root, tags)
  const limited = { ...document, tree: { ...document.tree, root: root ?? emptied(document.tree.root) } }
  return root ? { document: limited } : { document: limited, warning: 'no element matches include_tags' }
}

/** Compiles the selectors and patterns. @throws BaxError `invalid_request` that names the invalid one */
export function compileTags({ include, exclude }: TagQueries) {
  const isSelector = (query: SelectorQuery) => !isPattern(query)
  const selectors = [include, exclude].map((list) => list.filter(isSelector))
  const { matcher, queries } = compileSelectors(selectors.flat())
  return {
    matcher,
    included: {
      queries: queries.slice(0, selectors[0]!.length),
      hasPattern: compilePatterns(include.filter(isPattern)),
    },
    excluded: { queries: queries.slice(selectors[0]!.length), hasPattern: compilePatterns(exclude.filter(isPattern)) },
  }
}

/** Returns a page of the selected elements in document order; undefined if none matches `include`. */
function selectElements(root: ElementNode, tags: TagQueries): ElementNode | undefined {
  const { include } = tags
  const { matcher, included, excluded } = compileTags(tags)
  const kept = new Set<ElementNode>()
  const removed = new Set<ElementNode>()
  matcher.run(root, ({ element, hits }) => {
    for (const [{ queries, hasPattern }, found] of [
      [included, kept],
      [excluded, removed],
    ] as const)
      if (queries.some(({ matches }) => matches(hits)) || hasPattern(element)) found.add(element)
  })
  const copy = (element: ElementNode): ElementNode => ({
    ...element,
    children: element.children.flatMap((child) => (isElement(child) ? (removed.has(child) ? [] : copy(child)) : child)),
  })
  if (include.length === 0) return removed.has(root) ? emptied(root) : copy(root)
  const found: ElementNode[] = []
  const tables = new Map<ElementNode, ElementNode[]>()
  const collect = (element: ElementNode, path: readonly ElementNode[]): void => {
    if (removed.has(element)) return
    if (kept.has(element)) return void siblingsIn(tables, found, tableAround(element, path)).push(copy(element))
    for (const child of element.children) if (isElement(child)) collect(child, [...path, element])
  }
  collect(root, [])
  const [first] = found
  if (first === undefined || first.tag === root.tag) return first
  const body = first.tag === 'body' ? first : { tag: 'body', attributes: {}, children: found.map(asBlock) }
  return { ...root, children: [body] }
}

const ofTable = /^(?:caption|col|colgroup|tbody|td|tfoot|th|thead|tr)$/

/** Returns the table, and the row of a cell, without which a part of a table is none. */
function tableAround({ tag }: ElementNode, path: readonly ElementNode[]): readonly ElementNode[] {
  const start = ofTable.test(tag) ? path.findLastIndex((each) => each.tag === 'table') : -1
  if (start < 0) return []
  return path.slice(start).filter((each) => each.tag === 'table' || (each.tag === 'tr' && /^t[dh]$/.test(tag)))
}

/** Returns the children of the last of these elements in the limited page, and adds those elements that are not there. */
function siblingsIn(
  copies: Map<ElementNode, ElementNode[]>,
  found: ElementNode[],
  around: readonly ElementNode[],
): ElementNode[] {
  let siblings = found
  for (const element of around) {
    let children = copies.get(element)
    if (!children) {
      children = []
      copies.set(element, children)
      siblings.push({ ...element, children })
    }
    siblings = children
  }
  return siblings
}

const emptied = (root: ElementNode): ElementNode => ({ ...root, children: [] })

/** Separates elements from one another that were apart in the page. */
const asBlock = (element: ElementNode): ElementNode => ({ ...element, flow: 'block' })
