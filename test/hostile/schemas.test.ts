/** Hostile JSON schemas, which would take hours to compile or fill; these tests fail by timeout. */
import { describe, expect, test } from 'vitest'
import { extract_structured_content } from '../../src/commands/content.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { scrapeInput } from '../../src/core/shapes/scrape.ts'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { structuredOf } from '../../src/engine/extract/structured.ts'

type Schema = Record<string, unknown>

const from = (html: string, schema: Schema) =>
  structuredOf(treeFromHtml(html, 'https://site.example/'), { query: 'x', schema })
const names = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`)
const each = (count: number, part: unknown) => Object.fromEntries(names(count).map((name) => [name, part]))

describe('references', () => {
  test('follows recursive references a few levels deep, upper levels first', async () => {
    const whole = { type: 'object', properties: { ...each(10, { $ref: '#/$defs/whole' }), title: { type: 'string' } } }
    const { value } = await from('<h1>Kettle</h1><p>x</p>', { $ref: '#/$defs/whole', $defs: { whole } })
    expect(value).toMatchObject({ title: 'Kettle', p9: { title: 'Kettle' } })
    expect(Object.keys(value as Schema)).toHaveLength(11)
  })

  test('compiles a subschema with many references once', async () => {
    const schema = {
      type: 'object',
      $defs: { big: { type: 'object', properties: each(200, { type: 'string' }) } },
      properties: each(200, { $ref: '#/$defs/big' }),
    }
    expect((await from('<p>x</p>', schema)).valid).toBe(true)
  })

  test('rejects endless and exponentially branching references', async () => {
    const twice = Object.fromEntries(
      names(40).map((name, at) => [name, { allOf: [{ $ref: `#/$defs/p${at + 1}` }, { $ref: `#/$defs/p${at + 1}` }] }]),
    )
    const branching = { $ref: '#/$defs/p0', $defs: { ...twice, p40: {} } }
    for (const schema of [branching, { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }]) {
      await expect(from('<p>x</p>', schema)).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'schema' }],
      })
    }
  })
})

describe('patterns', () => {
  const titled = (pattern: string) => ({ type: 'object', properties: { title: { type: 'string', pattern } } })

  test('run in linear time', async () => {
    const { errors } = await from(`<h1>${'a'.repeat(60)}!</h1>`, titled('^(a+)+$'))
    expect(errors).toEqual(['title must match pattern "^(a+)+$"'])
    expect((await from('<h1>Kettle 12</h1>', titled(String.raw`^\p{Lu}\w+\s\d{2}$`))).valid).toBe(true)
  })

  test.each([
    ['a lookahead', '^(?=a)'],
    ['too large a one', '(?:a{500}){50}'],
  ])('rejects %s, and names its path', async (_, pattern) => {
    await expect(from('<p>x</p>', titled(pattern))).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'schema.properties.title.pattern' }],
    })
    await expect(from('<p>x</p>', { type: 'object', patternProperties: { [pattern]: {} } })).rejects.toMatchObject({
      details: [{ path: 'schema.patternProperties' }],
    })
  })
})

describe('schemas are limited in size for every input', () => {
  const { chars, parts, depth } = limits.input.schema
  let deep: Schema = {}
  for (let at = 0; at < depth; at++) deep = { not: deep }
  const tooLarge: [string, Schema, string][] = [
    ['properties', { type: 'object', properties: each(parts, { type: 'string' }) }, `${parts} subschemas`],
    ['names in short', each(parts + 1, 'string'), `${parts} subschemas`],
    ['characters', { type: 'string', description: 'x'.repeat(chars) }, `${chars} characters`],
    ['levels', deep, `${depth} levels`],
  ]

  test.each(tooLarge)('limits its %s', async (_, schema, most) => {
    const url = 'https://site.example/'
    for (const [input, path] of [
      [{ url, json_options: { schema } }, 'json_options.schema'],
      [{ url, formats: [{ type: 'json', schema }] }, 'formats.0.schema'],
    ] as const) {
      const { error } = scrapeInput.safeParse(input)
      expect(error!.issues.map((issue) => issue.path.join('.'))).toEqual([path])
      expect(error!.issues[0]!.message).toContain(most)
    }
    expect(extract_structured_content.data.safeParse({ query: 'x', schema }).error!.issues[0]!.path).toEqual(['schema'])
    await expect(from('<p>x</p>', schema)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('fills a schema of maximum size', async () => {
    const { value } = await from('<h1>Kettle</h1>', { ...each(parts / 2 - 1, 'string'), title: 'string' })
    expect(value).toMatchObject({ title: 'Kettle' })
  })
})
