import { describe, expect, test } from 'vitest'
import type { Placement } from '../../src/core/operation/placement.ts'
import { operations, sockets, streams, transfers } from '../../src/operations/index.ts'

const endpoints = Object.entries({ ...operations, ...streams, ...transfers, ...sockets }).map(([name, endpoint]) => ({
  name,
  runs: endpoint.runs as Placement | undefined,
  fields: Object.keys(endpoint.input.shape),
  required: Object.entries(endpoint.input.shape)
    .filter(([, field]) => !field.safeParse(undefined).success)
    .map(([field]) => field),
}))

describe('every operation, stream, transfer and websocket', () => {
  test.each(endpoints)('$name declares where it runs', ({ runs }) => {
    expect(runs?.on).toMatch(/^(object|new|any|all|gateway|only)$/)
  })

  test.each(endpoints.filter(({ runs }) => runs?.on === 'object'))(
    '$name names its object in an input field, required unless another place is declared',
    ({ runs, fields, required }) => {
      if (runs?.on !== 'object') return
      expect(fields).toContain(runs.field)
      expect(required.includes(runs.field)).toBe(runs.absent === undefined)
    },
  )

  test.each(endpoints.filter(({ runs }) => runs?.on === 'new' && runs.name !== undefined))(
    '$name names the new object in an optional field',
    ({ runs, fields, required }) => {
      if (runs?.on !== 'new') return
      expect(fields).toContain(runs.name)
      expect(required).not.toContain(runs.name)
    },
  )
})
