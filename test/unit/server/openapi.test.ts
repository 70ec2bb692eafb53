import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { routesOf } from '../../../src/core/operation/route.ts'
import { sessionInput } from '../../../src/core/shapes/session.ts'
import { operations, sockets, streams, transfers } from '../../../src/operations/index.ts'
import { aliasId, makeOpenapi } from '../../../src/server/openapi/openapi.ts'
import { findViolation } from '../../support/openapi-check.ts'

interface Described {
  operationId: string
  summary: string
  tags: string[]
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: unknown; schema: { required?: string[] } }> }
  responses: Record<string, unknown>
}
const document = makeOpenapi() as unknown as {
  openapi: string
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, unknown> }
  'x-websockets': { path: string; errors: string[] }[]
}
const described = Object.values(document.paths).flatMap((path) => Object.values(path))
interface Documented {
  http: string
  aliases?: readonly string[]
  sample?: object
  input: { parse(value: unknown): unknown }
}
const all: Record<string, Documented> = {
  ...operations,
  ...streams,
  ...transfers,
}

describe('openapi.json', () => {
  test("passes Redocly's recommended rules, with known warnings only", async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/openapi.json',
      config,
    })
    // The interface has both paths; no session can be named `provision`.
    expect(sessionInput.safeParse({ requested_name: 'provisions' }).success).toBe(true)
    expect(sessionInput.safeParse({ requested_name: 'provision' }).error?.issues).toMatchObject([
      { path: ['requested_name'], message: 'must not be provision' },
    ])
    const known =
      /ambiguous paths: `\/sessions\/(?:provision\/\{provision_id\}` and `\/sessions\/\{session_id\}\/(?:files|handoffs|lease|recording|script)`|\{session_id\}\/webmcp` and `\/sessions\/provision\/)/
    expect(
      problems
        .filter(({ message }) => !known.test(message))
        .map(({ severity, ruleId, message, location: [at] }) => ({ severity, ruleId, message, at: at?.pointer })),
    ).toEqual([])
  })

  test('is 3.1 and has every operation once at each of its URLs', () => {
    expect(document.openapi).toBe('3.1.0')
    const read = new Set(Object.values(operations).map(({ http }) => http as string))
    const ids = Object.entries(all)
      // An operation and a stream at the same URL are described once.
      .filter(([name, { http }]) => !(Object.hasOwn(streams, name) && read.has(http)))
      .flatMap(([name, operation]) =>
        routesOf(operation).map((http, at) => ({ http, id: at === 0 ? name : aliasId(name, at) })),
      )
      .filter(({ http }) => !http.endsWith('/'))
      .map(({ id }) => id)
    expect(described.map(({ operationId }) => operationId).toSorted()).toEqual(ids.toSorted())
  })

  test('every reference resolves', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name!,
    )
    expect(references.length).toBeGreaterThan(10)
    expect([...new Set(references)].filter((name) => !Object.hasOwn(document.components.schemas, name))).toEqual([])
  })

  test('every field of a path template is a parameter', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { parameters = [] } of Object.values(methods)) {
        for (const [, name] of path.matchAll(/\{(\w+)\}/g))
          expect(parameters).toContainEqual(expect.objectContaining({ name, in: 'path' }))
      }
    }
  })

  test('every operation lists its errors', () => {
    for (const { responses, summary } of described) {
      expect(summary).not.toBe('')
      expect(Object.keys(responses).some((status) => status.startsWith('4'))).toBe(true)
    }
  })

  test('every tag has a description', () => {
    const missing = document.tags.filter(({ description }) => !description).map(({ name }) => name)
    expect(missing, 'describe these in src/server/openapi/tags.ts').toEqual([])
    const named = new Set(document.tags.map(({ name }) => name))
    expect(described.filter(({ tags }) => tags.some((tag) => !named.has(tag)))).toEqual([])
  })

  test('every operation that needs fields has an example, and every example is a valid input', () => {
    const missing = Object.entries(all)
      .filter(([, { input, sample }]) => sample === undefined && !isValid(input, {}))
      .map(([name]) => name)
    expect(missing, 'give these a `sample`').toEqual([])
    for (const [name, { input, sample = {} }] of Object.entries(all))
      expect(() => input.parse(sample), name).not.toThrow()
    for (const { operationId, requestBody } of described) {
      const json = requestBody?.content['application/json']
      if (json?.schema.required) expect(json.example, operationId).toBeDefined()
    }
  })

  test('lists the websockets', () => {
    expect(document['x-websockets'].map(({ path }) => `GET ${path}`)).toEqual(
      Object.values(sockets).map(({ http }) => http),
    )
  })
})

function isValid(schema: { parse(value: unknown): unknown }, value: unknown): boolean {
  try {
    schema.parse(value)
    return true
  } catch {
    return false
  }
}

describe('responses', () => {
  const answer = (status: number, body: object | null, mediaType = 'application/json') => ({
    status,
    mediaType,
    text: body === null ? undefined : JSON.stringify(body),
  })

  test('are open objects: clients ignore fields that they do not know', () => {
    const closed = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .filter(({ responses }) => JSON.stringify(responses).includes('"additionalProperties":false'))
    expect(closed.map(({ operationId }) => operationId)).toEqual([])
    expect(JSON.stringify(document.components)).not.toContain('"additionalProperties":false')
  })

  test.each([
    ['a field that is not named', 'GET', '/sessions', answer(200, { sessions: [], total: 0, planted: 1 })],
    ['a missing field', 'GET', '/sessions', answer(200, { sessions: [] })],
    ['a status that is not described', 'GET', '/sessions', answer(418, {})],
    ['a media type that is not described', 'GET', '/shell/fs/raw', answer(200, null, 'text/html')],
    ['an address that is not described', 'GET', '/planted', answer(200, {})],
  ])('%s is found by the check of the flow tests', (_, method, path, given) => {
    expect(findViolation(method, path, given)).toMatch(/^GET /)
  })

  test.each([
    ['a result', 'GET', '/sessions', answer(200, { sessions: [], total: 0 })],
    [
      'a result with a warning',
      'GET',
      '/sessions',
      answer(200, { sessions: [], total: 0, warning: 'unknown field x' }),
    ],
    [
      'a failure of the target',
      'POST',
      '/observe',
      answer(200, {
        success: false,
        error: 'e',
        code: 'stale_ref',
        message: 'e',
        request_id: 'req_1',
        hint: 'h',
        details: {},
      }),
    ],
    [
      'an error',
      'GET',
      '/sessions',
      answer(401, { success: false, error: 'e', code: 'unauthorized', message: 'e', request_id: 'req_1' }),
    ],
    ['a download of any type', 'GET', '/shell/artifacts/art_1/files/a/b.png', answer(200, null, 'image/png')],
  ])('%s is allowed', (_, method, path, given) => {
    expect(findViolation(method, path, given)).toBeUndefined()
  })
})
