/** A backtracking expression would not come to an end here: these tests hang when one is used. */
import { describe, expect, test } from 'vitest'
import { pathRules } from '../../../src/engine/crawl/queue/scope.ts'
import { bypasses } from '../../../src/engine/egress/proxy-settings.ts'
import { urlGlob } from '../../../src/engine/browser/network/url-glob.ts'
import { linearGlob } from '../../../src/engine/linear-glob.ts'

const many = 'a'.repeat(240)
const hostile = `${'*a'.repeat(40)}*b`

describe('untrusted patterns match untrusted texts in linear time', () => {
  test('proxy bypass lists', () => {
    expect(bypasses(hostile, many, 443)).toBe(false)
    expect(bypasses(hostile, `${many}b`, 443)).toBe(true)
  })

  test.each([
    ['include_paths', 'stars', hostile],
    ['include_paths', 'alternatives', `/${'{a,aa}'.repeat(60)}b`],
    ['exclude_paths', 'folders', `/${'**/a/'.repeat(20)}b`],
  ] as const)('paths of a crawl: %s with %s', (field, _, glob) => {
    const rules = pathRules({ include_paths: [], exclude_paths: [], [field]: [glob], ...others })
    const judge = field === 'include_paths' ? rules.included : rules.excluded
    expect(judge(`/${many}c`)).toBe(false)
    expect(judge(`/${'a/'.repeat(100)}c`)).toBe(false)
  })

  test('URL globs of relay events', () => {
    const matches = linearGlob(`https://${hostile}`, 'url', { bash: true })
    expect([matches(`https://${many}`), matches(`https://${many}/b`)]).toEqual([false, true])
  })

  test('URL globs of routes, which are compared with the beginning of a URL of megabytes', () => {
    const matches = urlGlob('https://x/**', 'url')
    const url = `https://x/${'a'.repeat(2_000_000)}`
    for (let count = 0; count < 1000; count++) expect(matches(url)).toBe(true)
    expect(urlGlob('*.png', 'url')(`https://x/a.png?${url}`)).toBe(true)
  })
})

const others = { allow_subdomains: false, allow_external_links: false }

describe('proxy bypass lists', () => {
  test.each([
    ['intra', 'intra', true],
    ['intra', 'intra.example', false],
    ['.example.com', 'a.example.com', true],
    ['.example.com', 'example.com', false],
    ['*.test:443', 'x.test', true],
    ['*.test:8080', 'x.test', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*b*b', 'abb', true],
    ['*b*b', 'ab', false],
    ['*', 'anything', true],
    ['https://x.*', 'x.y', true],
    ['<local>, other', 'box', true],
  ])('%s: %s', (list, host, goesDirect) => expect(bypasses(list, host, 443)).toBe(goesDirect))
})
