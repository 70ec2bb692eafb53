/** Reads a page's JSON-LD and microdata as plain records. */
import { attribute, childElements, type ElementNode, elementsOf, rawText, visibleText } from '../tree.ts'
import { isRecord } from './shape.ts'

export interface Entity {
  /** Types in lower case, without their vocabulary: `product`. */
  readonly types: readonly string[]
  readonly fields: Readonly<Record<string, unknown>>
}

const maxDepth = 12
const maxEntities = 2000

/** Returns the top-level entities of the page in document order. */
export function entitiesOf(root: ElementNode): Entity[] {
  const entities: Entity[] = []
  const add = (entity: Entity) => entities.length < maxEntities && entities.push(entity)
  for (const element of elementsOf(
    root,
    ({ tag, attributes }) => tag !== 'script' && attributes['itemscope'] === undefined,
  )) {
    if (element.tag === 'script' && /ld\+json/i.test(attribute(element, 'type'))) {
      for (const entity of fromJson(rawText(element))) add(entity)
    } else if (element.attributes['itemscope'] !== undefined) {
      add(fromMicrodata(element, 0))
    }
  }
  return entities
}

function* fromJson(text: string): Generator<Entity> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text.trim().replaceAll(/^(?:\/\/\s{0,99})?<!\[CDATA\[|(?:\/\/\s{0,99})?\]\]>$|^<!--|-->$/g, ''))
  } catch {
    // Invalid JSON-LD is common and ignored.
    return
  }
  for (const item of [parsed].flat()) yield* graph(item, 0)
}

function* graph(item: unknown, depth: number): Generator<Entity> {
  if (!isRecord(item) || depth > 2) return
  for (const inner of [item['@graph'] ?? []].flat()) yield* graph(inner, depth + 1)
  if (item['@type'] === undefined) return
  yield { types: [item['@type']].flat().map(plainType), fields: plain(item, 0) as Record<string, unknown> }
}

const plainType = (type: unknown): string => String(type).split(/[/#:]/).at(-1)!.toLowerCase()

/** Removes the keywords of JSON-LD and replaces `{"@value": x}` with x. */
function plain(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return null
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  if (!isRecord(value)) return value
  if (value['@value'] !== undefined) return value['@value']
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !key.startsWith('@') && key !== '__proto__')
      .map(([key, inner]) => [key, plain(inner, depth + 1)]),
  )
}

function fromMicrodata(scope: ElementNode, depth: number): Entity {
  const fields: Record<string, unknown> = {}
  const put = (names: string, value: unknown) => {
    for (const name of names.split(/\s/).filter((word) => word !== '' && word !== '__proto__')) {
      const known = fields[name]
      if (Array.isArray(known)) known.push(value)
      else fields[name] = known === undefined ? value : [known, value]
    }
  }
  const visit = (element: ElementNode): void => {
    for (const child of childElements(element)) {
      const names = attribute(child, 'itemprop')
      if (child.attributes['itemscope'] !== undefined) {
        if (names !== '' && depth < maxDepth) put(names, fromMicrodata(child, depth + 1).fields)
        continue
      }
      if (names !== '') put(names, valueOf(child))
      visit(child)
    }
  }
  visit(scope)
  return { types: attribute(scope, 'itemtype').split(/\s/).filter(Boolean).map(plainType), fields }
}

/** Returns the property value of an element. */
function valueOf(element: ElementNode): string {
  const { attributes } = element
  const named = attributes['content'] ?? attributes['datetime']
  if (named !== undefined) return named
  if (/^(?:a|link|area)$/.test(element.tag)) return attributes['href'] ?? visibleText(element)
  if (/^(?:img|audio|video|source|iframe|embed)$/.test(element.tag)) return attributes['src'] ?? ''
  if (element.tag === 'data' || element.tag === 'meter') return attributes['value'] ?? visibleText(element)
  return visibleText(element)
}
