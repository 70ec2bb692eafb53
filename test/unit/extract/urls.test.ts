import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolveUrl } from '../../../src/engine/extract/urls.ts'

const bases = [
  'https://site.example/a/b?c#d',
  'http://site.example:8080',
  'https://name:word@site.example/',
  'https://bücher.example/ü',
  'mailto:a@site.example',
  'file:///a/b',
]
const part = fc.constantFrom(
  '#',
  '/',
  '//',
  '.',
  '..',
  'a',
  'B-1',
  '_',
  'ü',
  '%2e',
  '?',
  ':',
  '\\',
  ' ',
  '\n',
  '@',
  '8080',
  'https://site.example',
  'http://site.example:8080',
  'site.example',
  'javascript:',
  'http:',
  'https:',
)

function parsed(typed: string, base: string): string | undefined {
  try {
    return new URL(typed, base).href
  } catch {
    return undefined
  }
}

test('resolves like the URL parser, with and without its shortcuts', () => {
  fc.assert(
    fc.property(fc.constantFrom(...bases), fc.array(part, { maxLength: 5 }), (base, parts) => {
      const typed = parts.join('').trim()
      expect(resolveUrl(typed, base)).toBe(parsed(typed, base))
    }),
    { numRuns: 5000 },
  )
})
