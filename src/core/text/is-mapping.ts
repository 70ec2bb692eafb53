/** Whether a value is an object with fields, such as a mapping in JSON or YAML. */
export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the fields of a value; none if it has none. */
export const mappingOf = (value: unknown): Readonly<Record<string, unknown>> => (isMapping(value) ? value : {})
