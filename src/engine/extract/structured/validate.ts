/** Validates values against the caller's schema. */
import { _, Ajv2020, type CodeKeywordDefinition, Name, type ValidateFunction } from 'ajv/dist/2020.js'
import { BaxError } from '../../../core/errors/errors.ts'
import { schemaSizeError } from '../../../core/shapes/json-schema.ts'
import { StepBudget, linearPatterns } from './linear-patterns.ts'

export interface SchemaError {
  /** Path of the invalid value; empty for the whole value, undefined for missing or excess values. */
  readonly path: readonly string[] | undefined
  readonly message: string
}

export type Check = (value: unknown) => SchemaError[]

/**
 * Compiles a schema; the returned check lists the errors of a value. A null for an optional field counts as a missing
 * field, unless `nullIsMissing` is false.
 * @throws BaxError `invalid_request` that names `field` when the schema is invalid or too large; the check throws it
 * when it exceeds its step budget.
 */
export function checkFor(
  schema: Readonly<Record<string, unknown>>,
  field = 'schema',
  { nullIsMissing = true }: { nullIsMissing?: boolean } = {},
): Check {
  const budget = new StepBudget()
  const validate = compiled(schema, budget, field)
  return (value) => {
    budget.reset()
    if (isValid(validate, nullIsMissing ? withoutNulls(value, schema) : value, field)) return []
    return (validate.errors ?? [])
      .slice(0, 20)
      .map(({ instancePath, keyword, message = 'does not fit the schema' }) => {
        const segments = instancePath
          .split('/')
          .slice(1)
          .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
        const isForm =
          !/^(?:required|additionalProperties|(?:min|max)(?:Items|Properties)|uniqueItems|contains|if|allOf|anyOf|oneOf|not)$/.test(
            keyword,
          )
        return {
          path: isForm ? segments : undefined,
          message: segments.length === 0 ? message : `${segments.join('.')} ${message}`,
        }
      })
  }
}

function compiled(schema: Readonly<Record<string, unknown>>, budget: StepBudget, field: string): ValidateFunction {
  const excess = schemaSizeError(schema)
  if (excess !== undefined) throw refused(field, excess)
  try {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: false,
      logger: false,
      // Inlining would compile a subschema again for each of its references.
      inlineRefs: false,
      code: { regExp: linearPatterns(schema, budget) },
    })
    for (const keyword of ['$ref', '$dynamicRef']) countUses(ajv, keyword, budget)
    return ajv.compile(schema)
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw refused(field, `is not a valid JSON schema: ${reason}`, cause)
  }
}

/** Counts uses of references against the budget: their number can double with every level of references. */
function countUses(ajv: Ajv2020, keyword: string, budget: StepBudget): void {
  const known = ajv.getKeyword(keyword) as CodeKeywordDefinition
  ajv.removeKeyword(keyword).addKeyword({
    ...known,
    code(context, rule) {
      context.gen.code(_`${context.gen.scopeValue('func', { ref: budget.useReference })}(${new Name('errors')})`)
      known.code(context, rule)
    },
  })
}

function isValid(validate: ValidateFunction, value: unknown, field: string): boolean {
  try {
    return validate(value)
  } catch (cause) {
    // Endless references overflow the stack.
    if (cause instanceof RangeError) throw refused(field, 'refers to itself endlessly', cause)
    throw cause
  }
}

const refused = (path: string, message: string, cause?: unknown): BaxError =>
  new BaxError('invalid_request', `${path} ${message}`, { cause, details: [{ path, message }] })

/** Replaces invalid values with null. */
export function withoutInvalidValues(value: unknown, errors: readonly SchemaError[]): unknown {
  const kept = structuredClone(value)
  for (const { path } of errors) {
    if (path === undefined) continue
    const last = path.at(-1)
    if (last === undefined) return null
    let owner = kept as Record<string, unknown> | null | undefined
    for (const part of path.slice(0, -1)) owner = owner?.[part] as typeof owner
    if (typeof owner === 'object' && owner !== null) owner[last] = null
  }
  return kept
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
