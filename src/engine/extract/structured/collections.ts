/** Finds repeated content of a page: table rows, cards and items with the same structure, plain lists. */
import {
  attribute,
  childElements,
  classes,
  type ElementNode,
  hasText,
  isElement,
  isSilent,
  visibleText,
} from '../tree.ts'
import { definitionGroups } from '../markdown/list.ts'
import { rowsOf } from '../markdown/table.ts'
import { continues, isTable, readTable, type ReadTable, recordsOf } from './tables/tables.ts'

export interface Collection {
  /** Heading or caption above it. */
  readonly label: string
  /** Its classes, id and ARIA label. */
  readonly alias: string
  /** `pairs`: terms and their definitions. */
  readonly kind: 'table' | 'cards' | 'list' | 'pairs' | 'data'
  readonly records: readonly CollectionRecord[]
  /** Set for tables. */
  readonly table?: TableFacts
  /** Whether it is inside the page's navigation, header or footer. */
  readonly isBoilerplate: boolean
}

interface TableFacts {
  readonly element: ElementNode
  readonly columns: readonly string[]
  /** Number of rows in the page, which may be more than are read. */
  readonly rendered: number
  /** Number of rows that the table has, of which the page may have rendered some. */
  readonly total: number
}

export interface CollectionRecord {
  /** The element of a card, row or item. */
  readonly element?: ElementNode
  /** Texts of the cells by column name, or the fields of a structured-data record. */
  readonly fields?: Readonly<Record<string, unknown>>
  readonly cells?: Readonly<Record<string, ElementNode>>
}

const maxRecords = 1000
const maxCollections = 200

/** Returns tables, lists and repeated elements below `root`, in document order. */
export function collectionsOf(root: ElementNode, baseUrl: string): Collection[] {
  const found: Collection[] = []
  let heading = ''
  /** A table of headings only, whose body may be the next table. */
  let head: { table: ReadTable; collection: Collection | undefined } | undefined
  const addTable = (element: ElementNode, facts: Pick<Collection, 'label' | 'alias' | 'isBoilerplate'>) => {
    const own = isTable(element) ? readTable(element) : undefined
    if (!own) return undefined
    const before = head && continues(head.table, own) ? head.table : undefined
    const table = before
      ? { ...own, names: before.names, heads: before.heads, caption: own.caption || before.caption }
      : own
    if (before) found.splice(found.indexOf(head!.collection!), 1)
    const group = tableOf(table, element, baseUrl)
    const collection = group && { ...facts, ...group }
    if (collection) found.push(collection)
    head = table.hasBody ? undefined : { table, collection }
    return collection
  }
  const visit = (element: ElementNode, around: boolean): void => {
    for (const child of element.children) {
      if (!isElement(child) && hasText(child)) head = undefined
      if (!isElement(child) || isSilent(child) || found.length >= maxCollections) continue
      heading = headingText(child) ?? heading
      const isBoilerplate =
        around || /^(?:nav|footer|aside)$/.test(child.tag) || (child.tag === 'header' && element.tag === 'body')
      const facts = { label: heading, alias: aliasOf(child), isBoilerplate }
      const table = addTable(child, facts)
      if (table?.kind === 'table') continue
      const group = table ? undefined : groupOf(child)
      if (group) found.push({ ...facts, ...group })
      visit(child, isBoilerplate)
    }
  }
  visit(root, false)
  return found
}

/** A collection; its label is the heading above it unless it has one of its own. */
type Group = Pick<Collection, 'kind' | 'records'> & Partial<Collection>

function groupOf(element: ElementNode): Group | undefined {
  if (element.tag === 'ul' || element.tag === 'ol') return listOf(element)
  return element.tag === 'dl' ? pairsOf(element) : cardsOf(element)
}

const aliasOf = (element: ElementNode): string =>
  `${attribute(element, 'class')} ${attribute(element, 'id')} ${attribute(element, 'aria-label')}`.trim()

function headingText(element: ElementNode): string | undefined {
  return /^(?:h[1-6]|legend|summary|caption)$/.test(element.tag) ? visibleText(element, 200) : undefined
}

/** Returns the collection of a table; that of pairs for two columns without headings. */
function tableOf(table: ReadTable, element: ElementNode, baseUrl: string): Group | undefined {
  const { caption, names = [], rows, total } = table
  const pairs = table.names === undefined ? pairsOf(element) : undefined
  const columns = [...new Set(names.filter((name) => name !== ''))]
  const facts = { element, columns, rendered: rows.length, total: Math.max(total, rows.length) }
  const kind = { kind: 'table' as const, records: recordsOf(table, baseUrl) }
  return { ...(caption !== '' && { label: caption }), ...(pairs ?? kind), table: facts }
}

function listOf(list: ElementNode): Group | undefined {
  const items = childElements(list).filter((item) => item.tag === 'li' && visibleText(item, 1) !== '')
  if (items.length === 0) return undefined
  const records = items.slice(0, maxRecords).map((element) => ({ element }))
  const rich = items.filter((item) => childElements(item).length > 1 || childElements(item).some(isRich)).length
  return { kind: rich > items.length / 2 ? 'cards' : 'list', records }
}

/** Returns terms and definitions, or the rows of a table with two columns and no head. */
function pairsOf(element: ElementNode): Group | undefined {
  const pairs =
    element.tag === 'dl'
      ? definitionGroups(element).map(({ term, definitions }) => [term, ...definitions])
      : rowsOf(element).map(({ cells }) => cells)
  if (pairs.length < 2 || pairs.some((pair) => pair.length !== 2 || pair[0] === undefined)) return undefined
  const records = pairs
    .slice(0, maxRecords)
    .map(([term, value]) => ({ fields: { term: visibleText(term!, 200), value: visibleText(value!, 2000) } }))
  return { kind: 'pairs', records }
}

const isRich = (element: ElementNode): boolean => childElements(element).length > 1

/** Returns the largest group of children with the same structure: same tag, same first class or similar descendants. */
function cardsOf(parent: ElementNode): Group | undefined {
  if (/^(?:ul|ol|dl|tr|tbody|thead|table|p|select|html)$/.test(parent.tag)) return undefined
  const groups = new Map<string, ElementNode[]>()
  for (const child of childElements(parent)) {
    if (
      isSilent(child) ||
      (/^(?:h[1-6]|p|br|hr|span|b|strong|em|i|a|img|nav|header|footer)$/.test(child.tag) && classes(child).length === 0)
    )
      continue
    const key = `${child.tag}.${classes(child)[0]?.replaceAll(/\d+/g, '') ?? ''}`
    const group = groups.get(key)
    if (group) group.push(child)
    else groups.set(key, [child])
  }
  let best: ElementNode[] = []
  for (const group of groups.values()) {
    const filled = group.filter((element) => visibleText(element, 20).length > 2)
    if (filled.length > best.length && isUniform(filled)) best = filled
  }
  if (best.length < 2) return undefined
  const label = headingBefore(parent, best[0]!)
  const records = best.slice(0, maxRecords).map((element) => ({ element }))
  return {
    ...(label !== undefined && { label }),
    alias: `${aliasOf(parent)} ${aliasOf(best[0]!)}`,
    kind: 'cards',
    records,
  }
}

/** Returns the last heading among the children of `parent` before `card`. */
function headingBefore(parent: ElementNode, card: ElementNode): string | undefined {
  const children = childElements(parent)
  return children
    .slice(0, children.indexOf(card))
    .map(headingText)
    .findLast((text) => text !== undefined)
}

/** Whether elements have similar descendants, unlike the sections of a page, which share only a tag. */
function isUniform(elements: readonly ElementNode[]): boolean {
  if (elements.length < 2) return false
  const structures = elements.slice(0, 50).map((element) => new Set(structureOf(element, 3)))
  const [first] = structures
  const alike = structures.filter((structure) => {
    const shared = [...structure].filter((part) => first!.has(part)).length
    return shared >= 1 && shared * 2 >= Math.min(structure.size, first!.size)
  }).length
  return alike * 4 >= structures.length * 3
}

function structureOf(element: ElementNode, depth: number): string[] {
  if (depth === 0) return []
  return childElements(element)
    .slice(0, 20)
    .flatMap((child) => [`${child.tag}.${classes(child)[0] ?? ''}`, ...structureOf(child, depth - 1)])
}
