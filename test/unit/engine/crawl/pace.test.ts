import { expect, test } from 'vitest'
import { nextPace } from '../../../../src/engine/crawl/pacing/concurrency.ts'

const calm = { lagMs: 2, load: 0.5, free: 0.5 }

test('more pages at a time while the machine has room, up to a bound', () => {
  expect(nextPace(6, calm)).toBe(7)
  expect(nextPace(32, calm)).toBe(32)
})

test('as many as before while it has none to spare', () => {
  expect(nextPace(8, { ...calm, lagMs: 60 })).toBe(8)
  expect(nextPace(8, { ...calm, load: 5 })).toBe(8)
  expect(nextPace(8, { ...calm, free: 0.08 })).toBe(8)
})

test('fewer when it falls behind or runs out of memory, down to a bound', () => {
  expect(nextPace(8, { ...calm, lagMs: 200 })).toBe(6)
  expect(nextPace(8, { ...calm, free: 0.01 })).toBe(6)
  expect(nextPace(4, { ...calm, lagMs: 5000 })).toBe(4)
})
