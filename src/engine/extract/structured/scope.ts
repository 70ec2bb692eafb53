/** What values may be taken from: a whole page, or one record of a collection. */
import { type ElementNode, elementsOf, type Tree } from '../tree.ts'
import { type Collection, type CollectionRecord, collectionsOf } from './collections.ts'
import { entitiesOf, type Entity } from './linked-data.ts'
import { type Pair, Pairs } from './pairs.ts'
import { passagesOf, type Passage } from './passages.ts'
import { meaningOf } from './words.ts'

export interface Scope {
  readonly pairs: readonly Pair[]
  readonly collections: readonly Collection[]
  readonly passages: readonly Passage[]
  readonly element: ElementNode | undefined
  readonly baseUrl: string
  readonly effort: Effort
}

/** What may still be looked at for one answer: records in records are more with every level of a schema and a page. */
class Effort {
  #left: number

  constructor(elements: number) {
    this.#left = mostLooks + looksOfElement * elements
  }

  /** Whether so much more may be looked at. */
  allows(looks: number): boolean {
    this.#left -= looks
    return this.#left >= 0
  }
}

/** Labels, records and elements looked at; many times what pages need, and a second or two. */
const mostLooks = 2_000_000
const looksOfElement = 200
/** An element of a record is looked at for its labels, which takes as long as so many labels do. */
const looksOfRecord = 50

/** Types of entities that a page is about, and those that stand on every page of a site. */
const mainTypes = /^(?:.*product.*|.*article|.*posting|recipe|.*event|person|.*book|movie|tvseries|course|.*place|.*business|restaurant|store|hotel|softwareapplication|.*report|dataset|howto|faqpage|question|qapage|review|videoobject|musicalbum|profilepage)$/ // prettier-ignore
const sideTypes =
  /^(?:website|breadcrumblist|searchaction|sitenavigationelement|wpheader|wpfooter|imageobject|listitem)$/

/** Everything that a page offers; entities whose type the question names come first. */
export function pageScope({ root, baseUrl }: Tree, question: string): Scope {
  const pairs = new Pairs(baseUrl)
  const entities = entitiesOf(root)
  const asked = new Set(meaningOf(question))
  for (const entity of entities) pairs.entity(entity, entityRank(entity, asked))
  pairs.gather(root)
  return {
    pairs: pairs.list,
    collections: [...dataCollections(entities), ...collectionsOf(root)],
    passages: passagesOf(root),
    element: root,
    baseUrl,
    effort: new Effort(sizeOf(root)),
  }
}

function entityRank({ types }: Entity, asked: ReadonlySet<string>): number {
  if (types.some((type) => asked.has(type))) return 1
  if (types.some((type) => mainTypes.test(type))) return 0.98
  return types.some((type) => sideTypes.test(type)) ? 0.3 : 0.7
}

const scopes = new WeakMap<CollectionRecord, Scope>()

/** One record of a collection: its cells or fields, and what stands in its element. */
export function recordScope(record: CollectionRecord, around: Pick<Scope, 'baseUrl' | 'effort'>): Scope {
  const known = scopes.get(record)
  if (known) return known
  const { baseUrl, effort } = around
  const pairs = new Pairs(baseUrl)
  const { fields, cells } = record
  const element = record.element && effort.allows(looksOfRecord * sizeOf(record.element)) ? record.element : undefined
  for (const [name, cell] of Object.entries(cells ?? {})) {
    const inside = new Pairs(baseUrl)
    inside.gather(wrapped(cell))
    const address = inside.list.find((pair) => pair.address !== undefined)?.address
    pairs.add(name, String(fields?.[name] ?? ''), 1, address ? { address } : {})
  }
  if (fields && !cells) pairs.entity({ types: [], fields }, 1)
  if (element) pairs.gather(wrapped(element))
  // Most wishes are met by the labels: lists and passages are looked for only when one is not.
  let collections: Collection[] | undefined
  let passages: Passage[] | undefined
  const scope: Scope = {
    pairs: pairs.list,
    get collections() {
      return (collections ??= [
        ...(fields && !cells ? listsIn(fields) : []),
        ...(element ? collectionsOf(wrapped(element)) : []),
      ])
    },
    get passages() {
      return (passages ??= element ? passagesOf(element) : [])
    },
    element,
    baseUrl,
    effort,
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

/** A record inside an entity: an author, an offer. */
export function dataScope(fields: Readonly<Record<string, unknown>>, around: Scope): Scope {
  return recordScope({ fields }, around)
}

/** Lists that entities carry, and entities of one type that stand beside each other. */
function dataCollections(entities: readonly Entity[]): Collection[] {
  const byType = new Map<string, Entity[]>()
  for (const entity of entities) {
    const type = entity.types[0] ?? ''
    const group = byType.get(type)
    if (group) group.push(entity)
    else byType.set(type, [entity])
  }
  const found: Collection[] = []
  for (const [label, group] of byType) {
    if (group.length > 1)
      found.push({ label, alias: '', kind: 'data', records: group.map(({ fields }) => ({ fields })), aside: false })
    for (const { fields } of group) found.push(...listsIn(fields))
  }
  return found
}

function listsIn(fields: Readonly<Record<string, unknown>>): Collection[] {
  return Object.entries(fields).flatMap(([label, value]): Collection[] => {
    if (!Array.isArray(value)) return []
    const records = value.filter((item) => typeof item === 'object' && item !== null) as Record<string, unknown>[]
    if (records.length === 0) return []
    const items = records.map((item) => (typeof item['item'] === 'object' && item['item'] !== null ? { ...item, ...item['item'] } : item)) // prettier-ignore
    return [{ label, alias: '', kind: 'data', records: items.map((item) => ({ fields: item })), aside: false }]
  })
}
