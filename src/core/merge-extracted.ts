/** Joins the data that were extracted from several pages. */

type Data = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/**
 * Joins the values of several pages into one, in the order of the pages: objects field by field, lists without repeated
 * items; of other values, the first one that is not empty.
 */
export function mergeExtracted(values: readonly unknown[]): unknown {
  const present = values.filter((value) => !isEmpty(value))
  const [first] = present
  if (first === undefined) return null
  if (present.every((value) => Array.isArray(value))) return unique(present.flat())
  if (!present.every(isObject)) return first
  const names = [...new Set(present.flatMap((value) => Object.keys(value)))]
  return Object.fromEntries(names.map((name) => [name, mergeExtracted(present.map((value) => value[name]))]))
}

/** Removes items that are equal as JSON. */
function unique(items: readonly unknown[]): unknown[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
}
