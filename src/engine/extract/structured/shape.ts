/** A JSON schema, or what people write for one, as the plain shape that an extractor fills. */

export interface Shape {
  readonly kind: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'any'
  /** Words that say what is meant: title and description of the schema. */
  readonly about: string
  readonly properties: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly format?: string
  readonly choices?: readonly unknown[]
}

type Schema = Record<string, unknown>

const typeNames = /^(?:string|number|integer|boolean|object|array|null|any|date|url|email)(?:\[\])?$/
const keywords = [
  'type', 'properties', 'items', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$schema', '$defs', 'definitions', 'required', 'additionalProperties', 'not', 'if', 'prefixItems', 'patternProperties',
] // prettier-ignore
/** Words that stand beside `type` in a schema; beside any other, `type` is a property. */
const vocabulary = new Set([
  ...keywords,
  ...'title description default examples format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties nullable readOnly writeOnly deprecated contentMediaType propertyNames contains $id $comment'.split(
    ' ',
  ),
])
const deepest = 12
/** Nodes of a shape; what refers to itself in many places grows with every level. */
const mostNodes = 1000
const longestPointer = 1000

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A proper JSON schema from a schema-like object: `{name: 'string', tags: ['string'], price: {type: 'number'}}` names
 * its properties directly; a real schema stays as it is, without its `$schema`.
 */
export function properSchema(schema: Schema): Schema {
  const isProper = keywords.some((word) => isKeyword(schema, word))
  if (!isProper) return { type: 'object', properties: mapValues(schema, properField) }
  const { $schema: _, ...rest } = schema
  const proper: Schema = { ...rest }
  if (isSchema(proper['properties'])) proper['properties'] = mapValues(proper['properties'], properField)
  if (proper['items'] !== undefined) {
    if (Array.isArray(proper['items'])) {
      proper['prefixItems'] = proper['items'].map(properField)
      delete proper['items']
    } else proper['items'] = properField(proper['items'])
  }
  if (proper['type'] === undefined && isSchema(proper['properties'])) proper['type'] = 'object'
  return proper
}

/** Whether a key is a schema's keyword here, and not the name of a property that happens to be called so. */
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
  return isSchema(field) ? properSchema(field) : {}
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

/** The shape of a proper schema; references into itself are followed a few levels deep, the upper levels first. */
export function shapeOf(schema: Schema): Shape {
  const waiting: Waiting[] = []
  const whole = shape(schema, schema, 0, waiting)
  let nodes = 1
  for (const { inner, depth, put } of waiting) {
    if (nodes++ >= mostNodes) break
    put(shape(inner, schema, depth, waiting))
  }
  return whole
}

/** A part of a schema whose shape is still to be put into its place. */
interface Waiting {
  readonly inner: unknown
  readonly depth: number
  put(shape: Shape): void
}

const anything: Shape = { kind: 'any', about: '', properties: {} }

function shape(schema: unknown, root: Schema, depth: number, waiting: Waiting[]): Shape {
  if (!isSchema(schema) || depth > deepest) return anything
  const merged = resolved(schema, root)
  const properties = isSchema(merged['properties']) ? merged['properties'] : {}
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
    // Its place cannot be assigned to.
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

/** Follows `$ref`, joins `allOf`, and takes the first alternative that is not null. */
function resolved(schema: Schema, root: Schema): Schema {
  let current = schema
  for (let step = 0; step < deepest; step++) {
    const { $ref, allOf, anyOf, oneOf, ...rest } = current
    const alternatives = (anyOf ?? oneOf) as unknown[] | undefined
    if (typeof $ref === 'string') current = { ...pointed(root, $ref), ...rest }
    else if (Array.isArray(allOf)) current = joined([...allOf.filter(isSchema), rest])
    else if (Array.isArray(alternatives)) {
      const chosen = alternatives.filter(isSchema).find(({ type }) => type !== 'null')
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
  if (pointer.length > longestPointer) return {}
  let current: unknown = root
  for (const part of pointer.replace(/^#\/?/, '').split('/')) {
    if (part !== '' && isSchema(current)) current = current[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return isSchema(current) ? current : {}
}
