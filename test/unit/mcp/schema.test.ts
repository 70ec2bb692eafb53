import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { schemaOf } from '../../../src/mcp/schema.ts'
import { tools } from '../../../src/mcp/tools/index.ts'

describe('the schema of a tool', () => {
  test('keeps what an agent needs, and leaves out limits', () => {
    const schema = z.object({
      url: z.string().min(1).max(100).describe('Page'),
      limit: z.int().min(1).max(9).default(5).describe(''),
      all: z.boolean().default(false),
      format: z.enum(['a', 'b']).optional(),
    })
    expect(schemaOf(schema)).toEqual({
      type: 'object',
      properties: {
        url: { type: 'string', description: 'Page' },
        limit: { type: 'integer', default: 5 },
        all: { type: 'boolean' },
        format: { type: 'string', enum: ['a', 'b'] },
      },
      required: ['url'],
    })
  })

  test('leaves out the fields of objects that are brief', () => {
    const reader = z.object({ name: z.string(), age: z.int() }).optional().meta({ brief: true })
    expect(schemaOf(z.object({ reader: reader.describe('Who reads: name, age') })).properties).toEqual({
      reader: { type: 'object', description: 'Who reads: name, age' },
    })
  })

  test('keeps fields that are named like keywords', () => {
    expect(schemaOf(z.object({ pattern: z.string(), title: z.string() })).properties).toHaveProperty('title')
  })
})

describe('every tool', () => {
  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s has a short description and small schemas',
    (_, tool) => {
      expect(tool.description).toMatch(/^[A-Z].*\.$/)
      expect(tool.description.length).toBeLessThan(400)
      expect(JSON.stringify(schemaOf(tool.input)).length).toBeLessThan(900)
      expect(tool.uses.length).toBeGreaterThan(0)
    },
  )
})
