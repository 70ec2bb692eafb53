import { expect, test } from 'vitest'
import { nextConcurrency } from '../../../../src/engine/crawl/pacing/concurrency.ts'

const calm = { lagMs: 2, load: 0.5, free: 0.5 }

test('concurrency grows up to a limit while the machine has spare capacity', () => {
  expect(nextConcurrency(6, calm)).toBe(7)
  expect(nextConcurrency(32, calm)).toBe(32)
})

test('concurrency stays the same without spare capacity', () => {
  expect(nextConcurrency(8, { ...calm, lagMs: 60 })).toBe(8)
  expect(nextConcurrency(8, { ...calm, load: 5 })).toBe(8)
  expect(nextConcurrency(8, { ...calm, free: 0.08 })).toBe(8)
})

test('concurrency decreases down to a limit under load or without free memory', () => {
  expect(nextConcurrency(8, { ...calm, lagMs: 200 })).toBe(6)
  expect(nextConcurrency(8, { ...calm, free: 0.01 })).toBe(6)
  expect(nextConcurrency(4, { ...calm, lagMs: 5000 })).toBe(4)
})
