import { expect, test } from 'vitest'
import { matchesHost, parseHostPattern } from '../../../src/core/net/host-pattern.ts'

const matches = (pattern: string, host: string, port = 443) => matchesHost(parseHostPattern(pattern)!, host, port)

test.each([
  ['example.com', 'example.com'],
  ['Example.COM', 'example.com.'],
  ['*.example.com', 'a.b.example.com'],
  ['*.example.com', 'example.com'],
  ['api-*.example.com', 'api-2.example.com'],
  ['*', 'anything.test'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['[::1]:443', '::1'],
  ['example.com:443', 'example.com'],
  ['10.0.*', '10.0.3.4'],
])('%s matches %s', (pattern, host) => expect(matches(pattern, host)).toBe(true))

test.each([
  ['example.com', 'www.example.com'],
  ['example.com', 'example.com.evil.test'],
  ['*.example.com', 'evilexample.com'],
  ['*.example.com', 'example.com.evil.test'],
  ['example.com', 'examplescom'],
  ['example.com:8080', 'example.com'],
  ['10.0.*', '10.0.evil.test'],
  ['127.0.0.*', '127.0.0.1.evil.test'],
])('%s does not match %s', (pattern, host) => expect(matches(pattern, host)).toBe(false))

test.each(['', 'https://a.test', 'a.test/b', 'a b', 'a.test:0', 'a.test:99999', 'user@a.test', '[::1', 'a?b'])(
  '%j is no pattern',
  (text) => expect(parseHostPattern(text)).toBeUndefined(),
)

// With backtracking it would never end.
test('matches hostile patterns without backtracking', () =>
  expect(matches(`${'*a'.repeat(60)}b`, 'a'.repeat(250))).toBe(false))
