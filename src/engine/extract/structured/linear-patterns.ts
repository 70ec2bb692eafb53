/** Patterns of a schema, run in time that grows with the text, and a bound on all that a check does. */
import { RE2JS } from 're2js'
import { BaxError } from '../../../core/errors/errors.ts'

/** Steps of a check, a character that an instruction of a pattern looks at among them: a second or less. */
const mostSteps = 20_000_000
const stepsOfUse = 100
/** Instructions of a pattern, and of all patterns of a schema. */
const largestPattern = 2000
const largestPatterns = 10_000

/** What checking one value has cost so far. */
export class Effort {
  #left = mostSteps

  begin(): void {
    this.#left = mostSteps
  }

  /** A reference is followed; the errors found before are copied with those that it finds. */
  readonly use = (errors: number): void => this.spend(stepsOfUse + errors)

  /** @throws BaxError `invalid_request` when it is too much. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left >= 0) return
    throw new BaxError('invalid_request', 'schema takes too long to check: its references or patterns are too many', {
      details: [{ path: 'schema', message: 'takes too long to check' }],
    })
  }
}

/** The engine of a schema's patterns, as Ajv wants one. */
export function linearPatterns(schema: unknown, effort: Effort) {
  let left = largestPatterns
  const read = (source: string) => {
    const pattern = compiledPattern(source, schema)
    const size = pattern.programSize()
    if (size > largestPattern || (left -= size) < 0) throw unreadable(source, schema, 'the pattern is too large')
    return {
      test(text: string): boolean {
        effort.spend(size * text.length)
        return pattern.test(text)
      },
      // Ajv knows patterns apart by this.
      toString: () => source,
    }
  }
  // Of use to code that is written to a file, which none is.
  return Object.assign(read, { code: 'linearPattern' })
}

function compiledPattern(source: string, schema: unknown): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^error parsing regexp: /, '')
    throw unreadable(source, schema, reason, cause)
  }
}

function unreadable(source: string, schema: unknown, reason: string, cause?: unknown): BaxError {
  const path = pathOf(source, schema, 'schema') ?? 'schema'
  return new BaxError('invalid_request', `${path} is not a pattern that can be searched for: ${reason}`, {
    cause,
    details: [{ path, message: reason }],
    hint: 'regular expressions are RE2: no lookaround, no backreferences',
  })
}

/** Where a pattern stands in a schema: `schema.properties.title.pattern`. */
function pathOf(source: string, schema: unknown, path: string): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  for (const [key, inner] of Object.entries(schema)) {
    const place = Array.isArray(schema) ? `${path}[${key}]` : `${path}.${key}`
    const isHere = key === 'pattern' ? inner === source : key === 'patternProperties' && isNamed(inner, source)
    const found = isHere ? place : pathOf(source, inner, place)
    if (found !== undefined) return found
  }
  return undefined
}

const isNamed = (object: unknown, name: string): boolean =>
  typeof object === 'object' && object !== null && Object.hasOwn(object, name)
