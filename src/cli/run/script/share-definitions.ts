/** Shrinks a JSON Schema: subschemas that occur several times move to `$defs`. */
import { isMapping, mappingOf } from '../../../core/text/is-mapping.ts'

type Json = Readonly<Record<string, unknown>>

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const single = new Set(['items', 'additionalProperties', 'not'])
const listed = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const named = new Set(['properties', '$defs'])

/** Minimum length of a shared schema, in characters of JSON; a reference to it has about 30. */
const shortest = 40

/** Returns an equivalent schema in which equal subschemas occur only once. */
export function shareDefinitions(root: Json): Json {
  const places = new Map<string, number>()
  const count = (node: Json): Json => {
    const key = JSON.stringify(node)
    const known = places.get(key) ?? 0
    places.set(key, known + 1)
    // The subschemas of an equal schema are shared with it.
    return known > 0 ? node : mapSubschemas(node, count)
  }
  mapSubschemas(root, count)

  const own = mappingOf(root['$defs'])
  const shared: Record<string, Json> = {}
  const names = new Map<string, string>()
  const unusedName = (property: string): string => {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? property : `${property}_${number}`
      if (!Object.hasOwn(own, name) && !Object.hasOwn(shared, name)) return name
    }
  }
  const share = (node: Json, property: string): Json => {
    const key = JSON.stringify(node)
    if ((places.get(key) ?? 0) < 2 || key.length < shortest) return mapSubschemas(node, share, property)
    let name = names.get(key)
    if (name === undefined) {
      name = unusedName(property)
      names.set(key, name)
      // Reserve the name, which the subschemas would take otherwise.
      shared[name] = {}
      shared[name] = mapSubschemas(node, share, property)
    }
    return { $ref: `#/$defs/${name}` }
  }
  const rest = mapSubschemas(root, share, 'value')
  return { ...rest, $defs: { ...mappingOf(rest['$defs']), ...shared } }
}

/** Replaces the direct subschemas of a schema. `visit` also receives the name of the property that they describe. */
function mapSubschemas(node: Json, visit: (schema: Json, property: string) => Json, property = ''): Json {
  const mapped = (value: unknown, name: string) => (isMapping(value) ? visit(value, name) : value)
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      if (single.has(keyword)) return [keyword, mapped(value, property)]
      if (listed.has(keyword) && Array.isArray(value)) return [keyword, value.map((item) => mapped(item, property))]
      if (!named.has(keyword) || !isMapping(value)) return [keyword, value]
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapped(item, name)]))]
    }),
  )
}
