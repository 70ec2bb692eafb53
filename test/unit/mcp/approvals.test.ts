import { expect, test } from 'vitest'
import { tools } from '../../../src/mcp/tools/index.ts'
import { operations } from '../../../src/operations/index.ts'

test('no tool approves or rejects: an agent must not decide about its own actions', () => {
  const { approveAction, rejectAction } = operations
  const uses = tools.filter((tool) => tool.uses.some((one) => one === approveAction || one === rejectAction))
  expect(uses.map(({ name }) => name)).toEqual([])
})
