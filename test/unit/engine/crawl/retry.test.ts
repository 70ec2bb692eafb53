import { expect, test } from 'vitest'
import { retryAfter } from '../../../../src/engine/crawl/pacing/retry.ts'

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Sat, 21 Nov 2026 08:00:30 GMT', 30],
  ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j is %j seconds', (value, secs) => {
  expect(retryAfter(value, Date.parse('2026-11-21T08:00:00Z'))).toBe(secs)
})
