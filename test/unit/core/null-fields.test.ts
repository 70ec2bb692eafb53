import { expect, test } from 'vitest'
import { z } from 'zod'
import { asBaxError } from '../../../src/core/errors/errors.ts'
import { otherNames, unwrap } from '../../../src/core/operation/input/schema-fields.ts'
import { validateInput } from '../../../src/core/operation/input/valid-input.ts'
import { scrapeInput } from '../../../src/core/shapes/scrape.ts'
import { tools } from '../../../src/mcp/tools/index.ts'
import { operations, sockets, streams, transfers } from '../../../src/operations/index.ts'

const inputs: [string, z.ZodObject][] = [
  ...Object.entries({ ...operations, ...streams, ...transfers, ...sockets }).map(
    ([name, { input }]): [string, z.ZodObject] => [name, input],
  ),
  // The options of its form.
  ['options of parseV2', scrapeInput],
  ...tools.map(({ name, input }): [string, z.ZodObject] => [name, input]),
]

/** A value with one field that is null, and the same value without the field. */
interface Case {
  readonly path: string
  readonly isRequired: boolean
  readonly value: unknown
  readonly without: unknown
}

/** Yields cases for all fields of a schema, at any depth and in all spellings, for which null is no value. */
function* casesOf(schema: z.ZodType): Generator<Case> {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodArray) {
    for (const { path, value, without, ...rest } of casesOf(inner.element as z.ZodType))
      yield { path: `[0].${path}`, value: [value], without: [without], ...rest }
  } else if (inner instanceof z.ZodUnion) {
    for (const option of inner.options as readonly z.ZodType[]) yield* casesOf(option)
  } else if (inner instanceof z.ZodObject) {
    const base = exampleOf(inner) as Record<string, unknown>
    for (const [name, field] of Object.entries(inner.shape as Record<string, z.ZodType>)) {
      const { [name]: _, ...without } = base
      const isRequired = !field.safeParse(undefined).success
      if (!field.safeParse(null).success) {
        for (const path of new Set([name, camelCase(name), ...otherNames(field.meta())]))
          yield { path, isRequired, value: { ...without, [path]: null }, without }
      }
      for (const { path, value, without: less, ...rest } of casesOf(field))
        yield {
          path: `${name}.${path}`,
          value: { ...base, [name]: value },
          without: { ...base, [name]: less },
          ...rest,
        }
    }
  }
}

const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const texts = [
  'a',
  'https://example.com',
  '/a',
  'aa',
  'a'.repeat(32),
  'Mozilla/5.0 (X11)',
  'UTC',
  '2030-01-01T00:00:00Z',
]

/** Returns a value with the required fields of a schema. */
function exampleOf(schema: z.ZodType): unknown {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) {
    const fields = Object.entries(inner.shape as Record<string, z.ZodType>)
    return Object.fromEntries(
      fields.flatMap(([name, field]) => (field.safeParse(undefined).success ? [] : [[name, exampleOf(field)]])),
    )
  }
  if (inner instanceof z.ZodUnion) return exampleOf(inner.options[0] as z.ZodType)
  const element = inner instanceof z.ZodArray ? [exampleOf(inner.element as z.ZodType)] : undefined
  const choices = inner instanceof z.ZodEnum ? inner.options : inner instanceof z.ZodLiteral ? [...inner.values] : []
  const candidates = [...choices, ...texts, 1, 10, 100, 1000, true, {}, { a: 'a' }, [], element]
  return candidates.find((candidate) => inner.safeParse(candidate).success)
}

function outcome(schema: z.ZodObject, value: unknown): unknown {
  try {
    return validateInput(schema, value as Record<string, unknown>, true)
  } catch (error) {
    return asBaxError(error).details
  }
}

test.each(inputs)('null in the input of %s is an absent optional field, and no required one', (_, schema) => {
  for (const { path, isRequired, value, without } of casesOf(schema)) {
    if (!isRequired) expect(outcome(schema, value), path).toEqual(outcome(schema, without))
    else expect(outcome(schema, value), path).not.toHaveProperty('input')
  }
})
