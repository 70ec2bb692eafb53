import { expect, test } from 'vitest'
import { redactBody, redactLine, redactText } from '../../../src/core/access/redact.ts'
import { inPieces, replaceRuns, squeeze } from '../../../src/core/text/pieces.ts'

const long = 'x'.repeat(6_000_000)

test.each([999_990, 1_000_000, 1_000_001, 2_999_999])('a text of %i characters is replaced as a whole', (length) => {
  const text = 'word '.repeat(Math.ceil(length / 5)).slice(0, length)
  expect(inPieces(text, /\s/g, (piece) => piece.replaceAll('word', 'part'))).toBe(text.replaceAll('word', 'part'))
})

test.each([
  'Bearer s3cret-s3cret-s3cret',
  'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyZXQifQ.s3cret',
  'https://a.test/?password=s3cret',
])('the credential in %j is redacted where a piece ends', (secret) => {
  const texts = Array.from({ length: secret.length + 2 }, (_, at) => `${'-'.repeat(999_999 - at)} ${secret} -`)
  expect(texts.map(redactText).filter((text) => text.includes('s3cret'))).toEqual([])
})

test('words of millions of characters are redacted', () => {
  expect(redactText(`eyJ${long}`)).toHaveLength(long.length + 3)
  expect(redactText(`${long} eyJ${long.slice(1)}.${'y'.repeat(20)} Bearer s3cret-s3cret`)).toMatch(
    /Bearer \[redacted\]$/,
  )
})

test('bodies and log lines of millions of characters are redacted', () => {
  expect(redactBody(`a=${long}&token=${long} rest&q=${long}`)).toBe(`a=${long}&token=[redacted] rest&q=${long}`)
  expect(redactBody(long)).toBe(long)
  expect(redactLine(`cookie: ${long}\r\ncookie:\nx; cookie: y\nend`)).toBe(
    'cookie: [redacted]\r\ncookie:\n[redacted]\nend',
  )
})

test.each([2_999_999, 6_000_000])('white space of %i characters becomes a single space', (length) => {
  const space = ' \n'.repeat(length).slice(0, length)
  expect(squeeze(`${space}a${space}\u{1f600}${space}`)).toBe('a \u{1f600}')
  expect(replaceRuns(`${'\u{1f600}'.repeat(length)}${space}é`, /[\s\u{1f600}]+/gu, '')).toBe('é')
})
