import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { routesOf } from '../../../src/core/operation.ts'
import { operations, sockets, streams, transfers } from '../../../src/operations/index.ts'
import { samples } from '../../../src/operations/samples.ts'
import { aliasId, makeOpenapi } from '../../../src/server/openapi.ts'

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
const all: Record<string, { http: string; aliases?: readonly string[]; input: { parse(value: unknown): unknown } }> = {
  ...operations,
  ...streams,
  ...transfers,
}

describe('openapi.json', () => {
  test("passes Redocly's recommended rules without a word", async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/openapi.json',
      config,
    })
    expect(
      problems.map(({ severity, ruleId, message, location: [at] }) => ({ severity, ruleId, message, at: at?.pointer })),
    ).toEqual([])
  })

  test('is 3.1 and has every operation once at each of its addresses', () => {
    expect(document.openapi).toBe('3.1.0')
    const read = new Set(Object.values(operations).map(({ http }) => http as string))
    const ids = Object.entries(all)
      // What is read and followed at one address is described once.
      .filter(([name, { http }]) => !(Object.hasOwn(streams, name) && read.has(http)))
      .flatMap(([name, operation]) =>
        routesOf(operation).map((http, at) => ({ http, id: at === 0 ? name : aliasId(name, at) })),
      )
      .filter(({ http }) => !http.endsWith('/'))
      .map(({ id }) => id)
    expect(described.map(({ operationId }) => operationId).toSorted()).toEqual(ids.toSorted())
  })

  test('every reference leads somewhere', () => {
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

  test('every operation says what can go wrong', () => {
    for (const { responses, summary } of described) {
      expect(summary).not.toBe('')
      expect(Object.keys(responses).some((status) => status.startsWith('4'))).toBe(true)
    }
  })

  test('every group is described', () => {
    expect(document.tags.filter(({ description }) => !description)).toEqual([])
    const named = new Set(document.tags.map(({ name }) => name))
    expect(described.filter(({ tags }) => tags.some((tag) => !named.has(tag)))).toEqual([])
  })

  test('every operation that needs fields has an example, and every example is a valid input', () => {
    const missing = Object.entries(all)
      .filter(([name, { input }]) => !Object.hasOwn(samples, name) && !isValid(input, {}))
      .map(([name]) => name)
    expect(missing).toEqual([])
    for (const [name, sample] of Object.entries(samples))
      expect(() => all[name]!.input.parse(sample), name).not.toThrow()
    for (const { operationId, requestBody } of described) {
      const json = requestBody?.content['application/json']
      if (json?.schema.required) expect(json.example, operationId).toBeDefined()
    }
  })

  test('the websockets are listed', () => {
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
