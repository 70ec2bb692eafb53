import { describe, expect, test } from 'vitest'
import { routesOf } from '../../../src/core/operation.ts'
import { operations, streams, transfers } from '../../../src/operations/index.ts'
import { aliasId, makeOpenapi } from '../../../src/server/openapi.ts'

interface Described {
  operationId: string
  summary: string
  parameters?: { name: string; in: string }[]
  responses: Record<string, unknown>
}
const document = makeOpenapi(operations as never, streams as never, transfers as never) as unknown as {
  openapi: string
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, unknown> }
}
const described = Object.values(document.paths).flatMap((path) => Object.values(path))

describe('openapi.json', () => {
  test('is 3.1 and has every operation once at each of its addresses', () => {
    expect(document.openapi).toBe('3.1.0')
    const all: Record<string, { http: string; aliases?: readonly string[] }> = {
      ...operations,
      ...streams,
      ...transfers,
    }
    const read = new Set(Object.values(operations).map(({ http }) => http as string))
    const ids = Object.entries(all)
      // What is read and followed at one address is described once.
      .filter(([name, { http }]) => !(Object.hasOwn(streams, name) && read.has(http)))
      .flatMap(([name, operation]) => routesOf(operation).map((_, at) => (at === 0 ? name : aliasId(name, at))))
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
})
