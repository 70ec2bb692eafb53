/** Data that a replay keeps in memory. */
import { describe, expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { PageStore } from '../../../../src/engine/browser/replay/page-store.ts'
import { shortened } from '../../../../src/engine/browser/replay/shortened.ts'

describe('a value of a command', () => {
  test('is kept when it is short', () => {
    const value = { selector: '#a', list: [1, null, { deep: 'text' }], missing: undefined }
    expect(shortened(value, 100)).toEqual({ value, omitted: 0 })
    expect(shortened(undefined, 100)).toEqual({ value: undefined, omitted: 0 })
  })

  test('is kept from its beginning, with the number of characters that are left out', () => {
    expect(shortened('x'.repeat(500), 100)).toEqual({ value: 'x'.repeat(100), omitted: 400 })
    expect(shortened({ a: 'x'.repeat(60), b: 'y'.repeat(60), c: 'zz' }, 100)).toEqual({
      value: { a: 'x'.repeat(60), b: 'y'.repeat(38) },
      omitted: 22 + '"zz"'.length,
    })
    const { value, omitted } = shortened(
      Array.from({ length: 100_000 }, () => 7),
      100,
    )
    expect(value.length).toBeLessThan(100)
    expect(value.length + omitted).toBe(100_000)
  })
})

test('screenshots count as copies of pages', () => {
  const store = new PageStore()
  expect(store.reserve(limits.replay.chars - 10)).toBe(true)
  expect(store.reserve(11)).toBe(false)
  expect(store.add('<p>longer than that</p>')).toBeUndefined()
  expect(store.add('<p>no</p>')).toEqual([0])
})
