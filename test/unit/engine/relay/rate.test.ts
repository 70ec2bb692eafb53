import { expect, test } from 'vitest'
import { EventRate } from '../../../../src/engine/relay/collect/rate.ts'

test('admits console events up to half of the limit, and other events up to all of it', () => {
  let now = 0
  const rate = new EventRate(10, () => now)
  const passed = (kind: 'console' | 'network') =>
    Array.from({ length: 20 }, () => rate.admits(kind)).filter(Boolean).length
  expect(passed('console')).toBe(5)
  expect(passed('network')).toBe(5)
  expect(passed('network')).toBe(0)
  now = 1000
  expect(passed('network')).toBe(10)
  expect(passed('console')).toBe(0)
})
