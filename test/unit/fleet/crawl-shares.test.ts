import { describe, expect, test } from 'vitest'
import { heldJobs, shareOf } from '../../../src/fleet/crawl/queue/slots.ts'

describe('the pages of a crawl', () => {
  test('are an equal part of the slots for each key, and for each crawl of a key', () => {
    expect(shareOf({ slots: 16, owners: ['a'] }, 'a')).toBe(20)
    const owners = ['a', 'a', 'a', 'b']
    expect(shareOf({ slots: 16, owners }, 'a')).toBe(3)
    expect(shareOf({ slots: 16, owners }, 'b')).toBe(10)
    expect(shareOf({ slots: 16, owners: [null, null] }, null)).toBe(10)
  })

  test('are at least one, also before the crawl is counted', () => {
    expect(shareOf({ slots: 0, owners: [] }, 'a')).toBe(1)
    expect(shareOf({ slots: 4, owners: Array.from({ length: 32 }, () => 'b') }, 'a')).toBe(2)
  })

  test.each([1, 2, 4, 8, 40])('leave jobs of a worker with %i pages to others', (pages) => {
    expect(shareOf({ slots: pages, owners: ['a'] }, 'a')).toBeLessThan(heldJobs(pages))
  })
})
