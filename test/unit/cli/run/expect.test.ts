import { describe, expect, test } from 'vitest'
import { StepFailure } from '../../../../src/cli/run/call.ts'
import { checkExpectation } from '../../../../src/cli/run/expect.ts'
import type { Expected } from '../../../../src/cli/run/script/shape.ts'
import { parsePath } from '../../../../src/cli/run/script/references.ts'

/** Returns the failure message of an expectation; undefined when it passes. */
async function failureOf({ path = '', ...expected }: Expected, value: unknown): Promise<string | undefined> {
  const expectation = { path: parsePath(path)!, pathText: path, template: { kind: 'value', value: expected } as const }
  try {
    checkExpectation(expectation, expected, value)
    return undefined
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    expect(error.failure.code).toBe('expectation_failed')
    return error.message
  }
}

const rows = { rows: [{ name: 'ann', tags: ['a'] }, { name: 'bob' }] }

describe('a matching value passes', () => {
  const cases: [Expected, unknown][] = [
    [{ equals: 'a' }, 'a'],
    [{ equals: null }, null],
    [{ equals: { a: [1] } }, { a: [1] }],
    [{ path: 'rows[1].name', equals: 'bob' }, rows],
    [{ contains: 'ell' }, 'hello'],
    [{ contains: 3 }, [1, 3]],
    [{ path: 'rows', contains: { name: 'bob' } }, rows],
    [{ contains: { a: { b: 1 } } }, { a: { b: 1, c: 2 }, d: 3 }],
    [{ matches: '^h' }, 'hi'],
    [{ matches: '/^H/i' }, 'hi'],
    [{ matches: '^4' }, 42],
    [{ exists: true }, 0],
    [{ path: 'rows[7]', exists: false }, rows],
    [{ exists: false }, null],
    [{ path: 'rows', count: 2 }, rows],
    [{ count: 3 }, 'abc'],
    [{ less: 5, greater: 3 }, 4],
    [{ greater: 3 }, ' 4 '],
    [{ status_code: 200 }, { url: 'x', status_code: 200 }],
    [{ status_code: 404 }, { success: true, data: { metadata: { status_code: 404 } } }],
    [{ schema: { type: 'object', required: ['rows'] } }, rows],
  ]
  test.each(cases)('%j of %j', async (expected, value) => expect(await failureOf(expected, value)).toBeUndefined())
})

describe('a different value fails with the expected and the actual value', () => {
  const cases: [Expected, unknown, string][] = [
    [{ equals: 'Welcome' }, 'Sign in', 'expected the result to equal "Welcome", but it is "Sign in"'],
    [{ path: 'rows[0].name', equals: 1 }, rows, 'expected rows[0].name to equal 1, but it is "ann"'],
    [{ path: 'rows[9].name', equals: 1 }, rows, 'expected rows[9].name to equal 1, but it is nothing'],
    [{ contains: 'x' }, 'hello', 'expected the result to contain "x", but it is "hello"'],
    [
      { contains: { name: 'eve' } },
      [{ name: 'ann' }],
      'expected the result to contain {"name":"eve"}, but it is [{"name":"ann"}]',
    ],
    [{ matches: '^x' }, 'hello', 'expected the result to match ^x, but it is "hello"'],
    [{ matches: 'object' }, { a: 1 }, 'expected the result to match object, but it is {"a":1}'],
    [{ path: 'rows[9]', exists: true }, rows, 'expected rows[9] to exist, but it is nothing'],
    [{ exists: false }, 0, 'expected the result not to exist, but it is 0'],
    [{ path: 'rows', count: 3 }, rows, 'expected rows to have 3 items, but it has 2'],
    [{ count: 3 }, 7, 'expected the result to have 3 items, but it is 7'],
    [{ less: 3 }, 4, 'expected the result to be less than 3, but it is 4'],
    [{ greater: 3 }, 'many', 'expected the result to be greater than 3, but it is "many"'],
    [{ status_code: 200 }, { status_code: 404 }, 'expected the status code to be 200, but it is 404'],
    [{ status_code: 200 }, null, 'expected the status code to be 200, but the result has none'],
    [
      { schema: { required: ['id'], properties: { rows: { maxItems: 1 } } } },
      rows,
      "expected the result to match the schema, but the value must have required property 'id'; rows must NOT have more than 1 items",
    ],
    [{ equals: 'x' }, 'y'.repeat(300), `expected the result to equal "x", but it is "${'y'.repeat(198)}…`],
  ]
  test.each(cases)('%j of %j', async (expected, value, message) =>
    expect(await failureOf(expected, value)).toBe(message),
  )
})
