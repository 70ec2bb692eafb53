import { expect, test } from 'vitest'
import { parseUrl } from '../../../src/core/net/parse-url.ts'

test('a URL is parsed, relative to a base if there is one', () => {
  expect(parseUrl('https://example.com/a?b')?.href).toBe('https://example.com/a?b')
  expect(parseUrl('../c', 'https://example.com/a/b')?.href).toBe('https://example.com/c')
  expect(parseUrl('/a')).toBeUndefined()
  expect(parseUrl('https://')).toBeUndefined()
})

test('URLs with letters outside ASCII stay valid once the code is optimized', () => {
  const rejected = Array.from({ length: 20_000 }, () => parseUrl('https://bücher.example/')).filter((url) => !url)
  expect(rejected).toEqual([])
})
