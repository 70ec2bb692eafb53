/** Converts a JSON schema, or a shorthand for one, to the plain shape that the extractor fills. */

export interface Shape {
  readonly kind: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'any'
  /** Title and description of the schema. */
  readonly about: string
  readonly properties: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly format?: string
  readonly choices?: readonly unknown[]
}

type Schema = Record<string, unknown>

const typeNames = /^(?:string|number|integer|boolean|object|array|null|any|date|url|email)(?:\[\])?$/
const keywords = [
  'type',
  'properties',
  'items',
  '$ref',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  '$schema',
  '$defs',
  'definitions',
  'required',
  'additionalProperties',
  'not',
  'if',
  'prefixItems',
  'patternProperties',
]
/** Keywords that occur next to `type` in a schema; next to any other key, `type` is a property. */
const vocabulary = new Set([
  ...keywords,
  ...'title description default examples format pattern minLength maxLength minimum maximum'.split(' '),
  ...'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties'.split(' '),
  ...'maxProperties nullable readOnly writeOnly deprecated contentMediaType propertyNames contains'.split(' '),
  ...'$id $comment'.split(' '),
])
const maxDepth = 12
/** Maximum number of nodes of a shape: schemas that refer to themselves grow with every level. */
const maxNodes = 1000
const maxPointerLength = 1000

/** Whether a value is an object, and not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts a schema-like object to a JSON schema: `{name: 'string', tags: ['string'], price: {type: 'number'}}` names
 * its properties directly; a JSON schema is kept, without its `$schema`.
 */
export function properSchema(schema: Schema): Schema {
  const isProper = keywords.some((word) => isKeyword(schema, word))
  if (!isProper) return { type: 'object', properties: mapValues(schema, properField) }
  const { $schema: _, ...rest } = schema
  const proper: Schema = { ...rest }
  if (isRecord(proper['properties'])) proper['properties'] = mapValues(proper['properties'], properField)
  if (proper['items'] !== undefined) {
    if (Array.isArray(proper['items'])) {
      proper['prefixItems'] = proper['items'].map(properField)
      delete proper['items']
    } else proper['items'] = properField(proper['items'])
  }
  if (proper['type'] === undefined && isRecord(proper['properties'])) proper['type'] = 'object'
  return proper
}

/** Whether a key is used as a schema keyword, and not as the name of a property. */
function isKeyword(schema: Schema, word: string): boolean {
  const value = schema[word]
  if (value === undefined) return false
  if (word === 'type') {
    const named = typeof value === 'string' ? /^\w+$/.test(value) : Array.isArray(value)
    return named && Object.keys(schema).every((key) => vocabulary.has(key))
  }
  if (word === 'required' || /Of$|^enum$|^prefixItems$/.test(word)) return Array.isArray(value)
  if (word === 'items' || word === 'properties') return typeof value === 'object'
  return word === 'const' || word === 'additionalProperties' || typeof value === 'object' || word.startsWith('$')
}

function properField(field: unknown): unknown {
  if (typeof field === 'string') return namedType(field)
  if (Array.isArray(field)) return { type: 'array', items: field.length > 0 ? properField(field[0]) : {} }
  return isRecord(field) ? properSchema(field) : {}
}

function namedType(name: string): Schema {
  if (name.endsWith('[]')) return { type: 'array', items: namedType(name.slice(0, -2)) }
  if (name === 'date') return { type: 'string', format: 'date' }
  if (name === 'url') return { type: 'string', format: 'uri' }
  if (name === 'email') return { type: 'string', format: 'email' }
  if (name === 'any') return {}
  return typeNames.test(name) ? { type: name } : { type: 'string', description: name }
}

const mapValues = (object: Schema, map: (value: unknown) => unknown): Schema =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))

/** Returns the shape of a JSON schema; recursive references are followed a few levels deep, upper levels first. */
export function shapeOf(schema: Schema): Shape {
  const waiting: Waiting[] = []
  const whole = shape(schema, schema, 0, waiting)
  let nodes = 1
  for (const { inner, depth, put } of waiting) {
    if (nodes++ >= maxNodes) break
    put(shape(inner, schema, depth, waiting))
  }
  return whole
}

/** A subschema whose shape is still to be assigned. */
interface Waiting {
  readonly inner: unknown
  readonly depth: number
  put(shape: Shape): void
}

export const anything: Shape = { kind: 'any', about: '', properties: {} }

function shape(schema: unknown, root: Schema, depth: number, waiting: Waiting[]): Shape {
  if (!isRecord(schema) || depth > maxDepth) return anything
  const merged = resolved(schema, root)
  const properties = isRecord(merged['properties']) ? merged['properties'] : {}
  const type = [merged['type']].flat().find((name) => name !== 'null')
  const choices = Array.isArray(merged['enum']) ? merged['enum'] : 'const' in merged ? [merged['const']] : undefined
  const kind = kindOf(type, merged, properties)
  const items = merged['items'] ?? (Array.isArray(merged['prefixItems']) ? merged['prefixItems'][0] : undefined)
  const made = {
    kind,
    about: [merged['title'], merged['description']].filter((word) => typeof word === 'string').join(' '),
    properties: {} as Record<string, Shape>,
    ...(kind === 'array' && { items: anything }),
    ...(typeof merged['format'] === 'string' && { format: merged['format'] }),
    ...(choices && { choices }),
  }
  for (const [name, inner] of Object.entries(properties)) {
    // Assigning to `__proto__` would change the prototype.
    if (name === '__proto__') continue
    waiting.push({ inner, depth: depth + 1, put: (part) => (made.properties[name] = part) })
  }
  if (kind === 'array') waiting.push({ inner: items ?? {}, depth: depth + 1, put: (part) => (made.items = part) })
  return made
}

function kindOf(type: unknown, schema: Schema, properties: Schema): Shape['kind'] {
  if (type === 'object' || Object.keys(properties).length > 0) return 'object'
  if (type === 'array' || schema['items'] !== undefined) return 'array'
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean' ? type : 'any'
}

/** Follows `$ref`, merges `allOf`, and chooses the first alternative that is not null. */
function resolved(schema: Schema, root: Schema): Schema {
  let current = schema
  for (let step = 0; step < maxDepth; step++) {
    const { $ref, allOf, anyOf, oneOf, ...rest } = current
    const alternatives = (anyOf ?? oneOf) as unknown[] | undefined
    if (typeof $ref === 'string') current = { ...pointed(root, $ref), ...rest }
    else if (Array.isArray(allOf)) current = joined([...allOf.filter(isRecord), rest])
    else if (Array.isArray(alternatives)) {
      const chosen = alternatives.filter(isRecord).find(({ type }) => type !== 'null')
      current = { ...chosen, ...rest }
    } else return current
  }
  return current
}

const joined = (schemas: readonly Schema[]): Schema => ({
  ...Object.assign({}, ...schemas),
  properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
})

function pointed(root: Schema, pointer: string): Schema {
  if (pointer.length > maxPointerLength) return {}
  let current: unknown = root
  for (const part of pointer.replace(/^#\/?/, '').split('/')) {
    if (part !== '' && isRecord(current)) current = current[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return isRecord(current) ? current : {}
}
