/** Checks the result of a step against its expectations. */
import { isMapping, mappingOf } from '../../core/text/is-mapping.ts'
import { isDeepStrictEqual } from 'node:util'
import { StepFailure } from './call.ts'
import { expression, validator } from './script/expectations.ts'
import type { Expectation } from './script/plan.ts'
import { asText, pick } from './script/references.ts'
import type { Failure } from './report.ts'
import type { Expected } from './script/shape.ts'

/**
 * Checks the conditions of an expectation in the order of `checks`, except for its screenshot.
 * @throws StepFailure with the expected and the actual value.
 */
export function checkExpectation({ path, pathText }: Expectation, expected: Expected, value: unknown): void {
  const picked = pick(value, path)
  const subject = picked.found ? picked.value : undefined
  const name = pathText === '' ? 'the result' : pathText
  for (const [key, check] of Object.entries(checks)) {
    if (!Object.hasOwn(expected, key)) continue
    const failure = check(subject, expected[key as keyof Expected], name)
    if (failure) throw new StepFailure({ code: 'expectation_failed', ...failure })
  }
}

type Check = (actual: unknown, expected: unknown, name: string) => Omit<Failure, 'code'> | undefined

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

/** Returns a check of a predicate; `relation` describes it in the message. */
const checkThat =
  (holds: (actual: unknown, expected: unknown) => boolean, relation: (expected: unknown) => string): Check =>
  (actual, expected, name) =>
    holds(actual, expected)
      ? undefined
      : {
          message: `expected ${name} ${relation(expected)}, but it is ${shown(actual)}`,
          expected,
          actual: actual ?? null,
        }

const checks: Readonly<Record<string, Check>> = {
  exists: checkThat(
    (actual, expected) => (actual !== undefined && actual !== null) === expected,
    (expected) => (expected ? 'to exist' : 'not to exist'),
  ),
  equals: checkThat(isDeepStrictEqual, (expected) => `to equal ${shown(expected)}`),
  contains: checkThat(contains, (expected) => `to contain ${shown(expected)}`),
  matches: checkThat(
    (actual, expected) =>
      typeof actual !== 'object' && actual !== undefined && expression(String(expected)).test(String(actual)),
    (expected) => `to match ${String(expected)}`,
  ),

  count: (actual, expected, name) => {
    const count = countOf(actual)
    if (count === expected) return undefined
    const found = count === undefined ? `it is ${shown(actual)}` : `it has ${count}`
    const message = `expected ${name} to have ${shown(expected)} items, but ${found}`
    return { message, expected, actual: count ?? actual ?? null }
  },

  less: checkThat(
    (actual, expected) => numberOf(actual) < Number(expected),
    (expected) => `to be less than ${shown(expected)}`,
  ),
  greater: checkThat(
    (actual, expected) => numberOf(actual) > Number(expected),
    (expected) => `to be greater than ${shown(expected)}`,
  ),

  status_code: (actual, expected, name) => {
    const status = statusOf(actual)
    if (status === expected) return undefined
    const found = status === undefined ? `${name} has none` : `it is ${status}`
    const message = `expected the status code to be ${shown(expected)}, but ${found}`
    return { message, expected, actual: status ?? null }
  },

  schema: (actual, expected, name) => {
    const errors = validator(mappingOf(expected))(actual ?? null)
    if (errors.length === 0) return undefined
    const message = `expected ${name} to match the schema, but ${errors.join('; ')}`
    return { message, expected, actual: actual ?? null, details: errors }
  },
}

/** Whether a text contains another, a list contains an item, or an object has fields with these values. */
function contains(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'string') return actual.includes(asText(expected))
  if (Array.isArray(actual))
    return actual.some((item) => isDeepStrictEqual(item, expected) || hasFields(item, expected))
  return hasFields(actual, expected)
}

function hasFields(actual: unknown, expected: unknown): boolean {
  if (!isMapping(actual) || !isMapping(expected)) return false
  return Object.entries(expected).every(([key, value]) => {
    const own = actual[key]
    return isDeepStrictEqual(own, value) || hasFields(own, value)
  })
}

/** Returns the length of a text or list, or the number of fields of an object. */
function countOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined
}

/** Returns a number or a numeric text, as pages contain it, as a number; NaN otherwise. */
const numberOf = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN

/** Returns the HTTP status of a command, a scrape or another result. */
function statusOf(value: unknown): number | undefined {
  const { status_code, metadata, data } = mappingOf(value)
  const found =
    typeof value === 'number'
      ? value
      : (status_code ?? mappingOf(metadata)['status_code'] ?? mappingOf(mappingOf(data)['metadata'])['status_code'])
  return typeof found === 'number' ? found : undefined
}
