/** The sources of values: a whole page, or one record of a collection. */
import {
  childElements,
  type ElementNode,
  elementsOf,
  isElement,
  isPhrasing,
  isSilent,
  type Tree,
  visibleText,
} from '../tree.ts'
import { type Collection, type CollectionRecord, collectionsOf } from './collections.ts'
import { entitiesOf, type Entity } from './linked-data.ts'
import { type Pair, Pairs } from './pairs.ts'
import { contentWords } from './words.ts'

export interface Scope {
  readonly pairs: readonly Pair[]
  readonly collections: readonly Collection[]
  readonly passages: readonly Passage[]
  readonly baseUrl: string
  readonly budget: ReturnType<typeof budgetFor>
}

/** Limit of the work for one answer: nested records multiply with every level of a schema and a page. */
function budgetFor(elements: number) {
  let left = baseSteps + stepsPerElement * elements
  /** Takes steps from the budget; returns whether it was enough. */
  const allows = (steps: number): boolean => (left -= steps) >= 0
  return { allows }
}

/** Labels, records and elements inspected: many times what pages need, one or two seconds. */
const baseSteps = 2_000_000
const stepsPerElement = 200
/** Cost of collecting the labels of one element of a record, in steps. */
const stepsPerRecordElement = 50

/** Entity types that describe the subject of a page, and those found on every page of a site. */
const mainTypes =
  /^(?:.*product.*|.*article|.*posting|recipe|.*event|person|.*book|movie|tvseries|course|.*place|.*business|restaurant|store|hotel|softwareapplication|.*report|dataset|howto|faqpage|question|qapage|review|videoobject|musicalbum|profilepage)$/
const sideTypes =
  /^(?:website|breadcrumblist|searchaction|sitenavigationelement|wpheader|wpfooter|imageobject|listitem)$/

/** Collects all values of a page; entities whose type the question names rank first. */
export function pageScope({ root, baseUrl }: Tree, question: string): Scope {
  const collections = collectionsOf(root, baseUrl)
  const named = collections.filter(({ kind, table }) => kind === 'table' && table && table.columns.length > 0)
  const pairs = new Pairs(baseUrl, new Set(named.map(({ table }) => table!.element)))
  const entities = entitiesOf(root)
  const queryWords = new Set(contentWords(question))
  for (const entity of entities) pairs.entity(entity, entityRank(entity, queryWords))
  pairs.gather(root)
  return {
    pairs: pairs.list,
    collections: [...dataCollections(entities), ...collections],
    passages: passagesOf(root),
    baseUrl,
    budget: budgetFor(sizeOf(root)),
  }
}

function entityRank({ types }: Entity, queryWords: ReadonlySet<string>): number {
  if (types.some((type) => queryWords.has(type))) return 1
  if (types.some((type) => mainTypes.test(type))) return 0.98
  return types.some((type) => sideTypes.test(type)) ? 0.3 : 0.7
}

const scopes = new WeakMap<CollectionRecord, Scope>()

/** Collects the values of one record of a collection: its cells or fields, and the content of its element. */
export function recordScope(record: CollectionRecord, parent: Pick<Scope, 'baseUrl' | 'budget'>): Scope {
  const known = scopes.get(record)
  if (known) return known
  const { baseUrl, budget } = parent
  const pairs = new Pairs(baseUrl)
  const { fields, cells } = record
  const element =
    record.element && budget.allows(stepsPerRecordElement * sizeOf(record.element)) ? record.element : undefined
  for (const [name, cell] of Object.entries(cells ?? {})) {
    const inside = new Pairs(baseUrl)
    inside.gather(wrapped(cell))
    const url = inside.list.find((pair) => pair.url !== undefined)?.url
    pairs.add(name, String(fields?.[name] ?? ''), 1, url ? { url } : {})
  }
  if (fields && !cells) pairs.entity({ types: [], fields }, 1)
  if (element) pairs.gather(wrapped(element))
  // Labels suffice for most fields: lists and passages are collected on first use.
  let collections: Collection[] | undefined
  let passages: Passage[] | undefined
  const scope: Scope = {
    pairs: pairs.list,
    get collections() {
      return (collections ??= [
        ...(fields && !cells ? listsIn(fields) : []),
        ...(element ? collectionsOf(wrapped(element), baseUrl) : []),
      ])
    },
    get passages() {
      return (passages ??= element ? passagesOf(element) : [])
    },
    baseUrl,
    budget,
  }
  scopes.set(record, scope)
  return scope
}

function sizeOf(element: ElementNode): number {
  let size = 0
  for (const _ of elementsOf(element)) size++
  return size
}

const wrapped = (element: ElementNode): ElementNode => ({ tag: 'div', attributes: {}, children: [element] })

type Fields = Entity['fields']

const dataCollection = (label: string, records: readonly Fields[]): Collection => ({
  label,
  alias: '',
  kind: 'data',
  records: records.map((fields) => ({ fields })),
  isBoilerplate: false,
})

/** Returns the lists of entities, and groups of entities of one type. */
function dataCollections(entities: readonly Entity[]): Collection[] {
  const byType = new Map<string, Fields[]>()
  for (const { types, fields } of entities) {
    const group = byType.get(types[0] ?? '')
    if (group) group.push(fields)
    else byType.set(types[0] ?? '', [fields])
  }
  return [...byType].flatMap(([type, group]) => [
    ...(group.length > 1 ? [dataCollection(type, group)] : []),
    ...group.flatMap(listsIn),
  ])
}

function listsIn(fields: Fields): Collection[] {
  return Object.entries(fields).flatMap(([label, value]) => {
    const records: Fields[] = Array.isArray(value)
      ? value.filter((item) => typeof item === 'object' && item !== null)
      : []
    if (records.length === 0) return []
    const items = records.map((item) =>
      typeof item['item'] === 'object' && item['item'] !== null ? { ...item, ...item['item'] } : item,
    )
    return [dataCollection(label, items)]
  })
}

/** A part of the running text. */
interface Passage {
  /** The heading above it. */
  readonly heading: string
  readonly text: string
}

const maxPassageLength = 5000

/** Whether an element is displayed on its own lines, or contains one that is. */
function isBlock(element: ElementNode): boolean {
  if (isSilent(element) || element.tag === 'br' || element.tag === 'img') return false
  return !isPhrasing(element) || childElements(element).some(isBlock)
}

/** Returns paragraphs and other innermost blocks in document order. */
function passagesOf(root: ElementNode): Passage[] {
  const passages: Passage[] = []
  let heading = ''
  const add = (element: ElementNode) => {
    const text = visibleText(element, maxPassageLength)
    if (text !== '') passages.push({ heading, text })
  }
  const visit = (element: ElementNode): void => {
    if (isSilent(element) || /^(?:nav|footer)$/.test(element.tag)) return
    if (/^h[1-6]$/.test(element.tag)) {
      heading = visibleText(element, 200)
      return
    }
    const blocks = childElements(element).filter(isBlock)
    if (blocks.length === 0) return add(element)
    // Text between blocks is a separate passage.
    const loose = element.children.filter((child) => !isElement(child) || !isBlock(child))
    add({ tag: 'p', attributes: {}, children: loose })
    for (const child of blocks) visit(child)
  }
  visit(root)
  return passages
}
