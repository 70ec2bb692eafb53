/** Runs the patterns of a schema in linear time, and limits the work of a check. */
import { RE2JS } from 're2js'
import { BaxError } from '../../../core/errors/errors.ts'
import { isRecord } from './shape.ts'

/** Step limit of a check, about a second; one instruction of a pattern on one character is a step. */
const maxSteps = 20_000_000
const stepsOfUse = 100
/** Maximum number of instructions of a pattern, and of all patterns of a schema. */
const maxPatternSize = 2000
const maxTotalPatternSize = 10_000

/** Step budget for checking one value. */
export class StepBudget {
  #left = maxSteps

  reset(): void {
    this.#left = maxSteps
  }

  /** Counts following a reference: Ajv copies the errors found before together with the new ones. */
  readonly useReference = (errors: number): void => this.spend(stepsOfUse + errors)

  /** @throws BaxError `invalid_request` when the budget is exceeded. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left >= 0) return
    throw new BaxError('invalid_request', 'schema takes too long to check: it has too many references or patterns', {
      details: [{ path: 'schema', message: 'takes too long to check' }],
    })
  }
}

/** Creates the regular expression engine of a schema for Ajv. */
export function linearPatterns(schema: unknown, budget: StepBudget) {
  let left = maxTotalPatternSize
  const read = (source: string) => {
    const pattern = compiledPattern(source, schema)
    const size = pattern.programSize()
    if (size > maxPatternSize || (left -= size) < 0) throw invalidPattern(source, schema, 'the pattern is too large')
    return {
      test(text: string): boolean {
        budget.spend(size * text.length)
        return pattern.test(text)
      },
      // Ajv identifies patterns by their string form.
      toString: () => source,
    }
  }
  // Ajv requires `code` for generated files only, which bax does not write.
  return Object.assign(read, { code: 'linearPattern' })
}

function compiledPattern(source: string, schema: unknown): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^error parsing regexp: /, '')
    throw invalidPattern(source, schema, reason, cause)
  }
}

function invalidPattern(source: string, schema: unknown, reason: string, cause?: unknown): BaxError {
  const path = pathOf(source, schema, 'schema') ?? 'schema'
  return new BaxError('invalid_request', `${path} is not a valid pattern: ${reason}`, {
    cause,
    details: [{ path, message: reason }],
    hint: 'regular expressions are RE2: no lookaround, no backreferences',
  })
}

/** Returns the path of a pattern in a schema: `schema.properties.title.pattern`. */
function pathOf(source: string, schema: unknown, path: string): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const isNamed = (object: unknown) => isRecord(object) && Object.hasOwn(object, source)
  for (const [key, inner] of Object.entries(schema)) {
    const place = Array.isArray(schema) ? `${path}[${key}]` : `${path}.${key}`
    const isHere = key === 'pattern' ? inner === source : key === 'patternProperties' && isNamed(inner)
    const found = isHere ? place : pathOf(source, inner, place)
    if (found !== undefined) return found
  }
  return undefined
}
