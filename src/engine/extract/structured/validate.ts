/** Checks a value against the caller's schema. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { BaxError } from '../../../core/errors.ts'

export type Check = (value: unknown) => string[]

/**
 * Compiles a schema; the check returns one sentence for each fault. A null that stands for an optional field counts as
 * the field left out.
 * @throws BaxError `invalid_request` when the schema is none.
 */
export function checkFor(schema: Record<string, unknown>): Check {
  let validate: ValidateFunction
  try {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: false,
      logger: false,
      addUsedSchema: false,
    })
    validate = ajv.compile(schema)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BaxError('invalid_request', `schema is no JSON schema: ${reason}`, {
      cause,
      details: [{ path: 'schema', message: reason }],
    })
  }
  return (value) => {
    if (validate(withoutNulls(value, schema))) return []
    return (validate.errors ?? []).slice(0, 20).map(({ instancePath, message = 'does not fit the schema' }) => {
      const path = instancePath.slice(1).replaceAll('/', '.')
      return path === '' ? message : `${path} ${message}`
    })
  }
}

function withoutNulls(value: unknown, schema: unknown): unknown {
  if (typeof value !== 'object' || value === null || typeof schema !== 'object' || schema === null) return value
  const { properties, items, required } = schema as Record<string, unknown>
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, items))
  const needed = Array.isArray(required) ? required : []
  const fields = (properties ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, field]) => field !== null || needed.includes(name))
      .map(([name, field]) => [name, withoutNulls(field, fields[name])]),
  )
}
