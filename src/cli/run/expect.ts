/** Holds the result of a step against what is expected of it. */
import { isDeepStrictEqual } from 'node:util'
import { StepFailure } from './call.ts'
import { expression, validator } from './script/expectations.ts'
import type { Expectation } from './script/plan.ts'
import { asText, pick } from './script/references.ts'
import type { Failure } from './report.ts'
import type { Expected } from './script/shape.ts'

/** Compares a picture with a stored one; returns what a reader should know when it is no fault. */
export type CheckPicture = (expected: NonNullable<Expected['screenshot']>) => Promise<string | undefined>

/**
 * Checks everything that the expectation says, in the order of the interface; returns notes.
 * @throws StepFailure with expected and actual.
 */
export async function checkExpectation(
  { path, pathText }: Expectation,
  expected: Expected,
  value: unknown,
  checkPicture: CheckPicture,
): Promise<string[]> {
  const picked = pick(value, path)
  const subject = picked.found ? picked.value : undefined
  const name = pathText === '' ? 'the result' : pathText
  for (const [key, check] of Object.entries(checks)) {
    if (!Object.hasOwn(expected, key)) continue
    const failure = check(subject, expected[key as keyof Expected], name)
    if (failure) throw new StepFailure({ code: 'expectation_failed', ...failure })
  }
  if (expected.screenshot === undefined) return []
  const note = await checkPicture(expected.screenshot)
  return note === undefined ? [] : [note]
}

type Check = (actual: unknown, expected: unknown, name: string) => Omit<Failure, 'code'> | undefined

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

const unlike = (name: string, how: string, expected: unknown, actual: unknown) => ({
  message: `expected ${name} ${how}, but it is ${shown(actual)}`,
  expected,
  actual: actual ?? null,
})

const checks: Readonly<Record<string, Check>> = {
  exists: (actual, expected, name) =>
    (actual !== undefined && actual !== null) === expected
      ? undefined
      : unlike(name, expected ? 'to exist' : 'not to exist', expected, actual),

  equals: (actual, expected, name) =>
    isDeepStrictEqual(actual, expected) ? undefined : unlike(name, `to equal ${shown(expected)}`, expected, actual),

  contains: (actual, expected, name) =>
    contains(actual, expected) ? undefined : unlike(name, `to contain ${shown(expected)}`, expected, actual),

  matches: (actual, expected, name) =>
    typeof actual !== 'object' && actual !== undefined && expression(String(expected)).test(String(actual))
      ? undefined
      : unlike(name, `to match ${String(expected)}`, expected, actual),

  count: (actual, expected, name) => {
    const count = countOf(actual)
    if (count === expected) return undefined
    const found = count === undefined ? `it is ${shown(actual)}` : `it has ${count}`
    return {
      message: `expected ${name} to have ${shown(expected)} items, but ${found}`,
      expected,
      actual: count ?? actual ?? null,
    }
  },

  less: (actual, expected, name) =>
    numberOf(actual) < (expected as number)
      ? undefined
      : unlike(name, `to be less than ${shown(expected)}`, expected, actual),

  greater: (actual, expected, name) =>
    numberOf(actual) > (expected as number)
      ? undefined
      : unlike(name, `to be greater than ${shown(expected)}`, expected, actual),

  status_code: (actual, expected, name) => {
    const status = statusOf(actual)
    if (status === expected) return undefined
    const found = status === undefined ? `${name} has none` : `it is ${status}`
    return {
      message: `expected the status code to be ${shown(expected)}, but ${found}`,
      expected,
      actual: status ?? null,
    }
  },

  schema: (actual, expected, name) => {
    const faults = validator(expected as object)(actual ?? null)
    if (faults.length === 0) return undefined
    return {
      message: `expected ${name} to fit the schema, but ${faults.join('; ')}`,
      expected,
      actual: actual ?? null,
      details: faults,
    }
  },
}

/** Part of a text, an item of a list, or fields of an object with these values. */
function contains(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'string') return actual.includes(asText(expected))
  if (Array.isArray(actual))
    return actual.some((item) => isDeepStrictEqual(item, expected) || holdsFields(item, expected))
  return holdsFields(actual, expected)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function holdsFields(actual: unknown, expected: unknown): boolean {
  if (!isObject(actual) || !isObject(expected)) return false
  return Object.entries(expected).every(([key, value]) => {
    const own = (actual as Record<string, unknown>)[key]
    return isDeepStrictEqual(own, value) || holdsFields(own, value)
  })
}

function countOf(value: unknown): number | undefined {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined
}

/** A page shows numbers as texts. */
const numberOf = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN

/** Where commands, scrapes and the rest keep the HTTP status. */
function statusOf(value: unknown): number | undefined {
  const body = (value ?? {}) as { status_code?: unknown; metadata?: unknown; data?: { metadata?: unknown } }
  const found =
    typeof value === 'number'
      ? value
      : (body.status_code ?? metadataOf(body.metadata) ?? metadataOf(body.data?.metadata))
  return typeof found === 'number' ? found : undefined
}

const metadataOf = (metadata: unknown) => (metadata as { status_code?: unknown } | undefined)?.status_code
