import { zipSync, unzipSync, strFromU8, strToU8 } from 'fflate'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeMask, maskTrace } from '../../../src/core/access/mask.ts'

const secret = 'p&ss "wörd"/+<1>'
const mask = makeMask([secret])
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('masks a secret', () => {
  const spelled: Record<string, string> = {
    'as it is': secret,
    'in JSON': JSON.stringify(secret).slice(1, -1),
    'in JSON with unicode escapes': 'p\\u0026ss \\u0022w\\u00f6rd\\u0022/+\\u003C1\\u003e',
    'in a URL': encodeURIComponent(secret),
    'in a URL with small hex digits': encodeURIComponent(secret).toLowerCase(),
    'in a form': new URLSearchParams({ x: secret }).toString().slice(2),
    'in HTML': 'p&amp;ss &quot;wörd&quot;/+&lt;1&gt;',
    'in a URL inside a URL': encodeURIComponent(encodeURIComponent(encodeURIComponent(secret))),
    'in a form inside a URL': encodeURIComponent(new URLSearchParams({ x: secret }).toString().slice(2)),
    'in JSON inside JSON': JSON.stringify(JSON.stringify(JSON.stringify(secret))).slice(7, -7),
    'in JSON inside a URL': encodeURIComponent(JSON.stringify(secret).slice(1, -1)),
    'in HTML inside HTML': 'p&amp;amp;ss &amp;quot;wörd&amp;quot;/+&amp;lt;1&amp;amp;gt;',
    'in HTML with numbers inside HTML': 'p&#38;#38;ss &amp;#x22;w&amp;#246;rd&#x26;#34;/+&amp;#60;1&#38;gt;',
    'in JSON with escaped slashes': 'p\\u0026ss \\"w\\\\u00f6rd\\"\\/+<1>',
    'in Markdown': 'p\\&ss "wörd"/\\+\\<1\\>',
    'in HTML with numbers': 'p&#38;ss &#x22;w&#246;rd&#X22;/+&#60;1&#062;',
  }
  test.each(Object.entries(spelled))('%s', (_, text) => expect(mask.text(`a ${text} b`)).toBe('a *** b'))

  test('in base64, at any offset', () => {
    for (const before of ['', 'u', 'us', 'user:']) {
      for (const after of ['', '!', '!!']) {
        const coded = base64(before + secret + after)
        const hidden = mask.text(coded)
        expect(hidden).toContain('***')
        expect(Buffer.from(hidden.replaceAll('***', '=='), 'base64').toString()).not.toContain(secret.slice(1, -1))
      }
    }
  })

  test('line by line when it has several lines', () => {
    const key = makeMask(['-----BEGIN\nabcd1234\n-----END'])
    expect(key.text('x abcd1234 y')).toBe('x *** y')
  })

  test('in keys, texts and numbers of a value, and keeps the rest', () => {
    const hide = makeMask(['4711'])
    expect(hide.deep({ a4711: ['4711', 4711, 14711, 12, true, null], png: new Uint8Array([1]) })).toEqual({
      'a***': ['***', '***', '1***', 12, true, null],
      png: new Uint8Array([1]),
    })
  })

  test('that contains another one as a whole', () => {
    expect(makeMask(['abc', 'abcdef']).text('abcdef abc')).toBe('*** ***')
  })
})

test.each(['a\\\\b"c', '\\\\\\\\', '"\\\\"\\\\"', '%25%2525', '&amp;amp;&', '\\\\u0022"x', '"'.repeat(8), ' + "/'])(
  'takes time in proportion to the text for %s',
  (value) => {
    const hide = makeMask([value])
    for (const unit of ['\\\\', '%5C', '%25', '25', '&amp;', '&#0', '"', '\\\\"', 'a\\\\', '%', 'amp;']) {
      // Quadratic time would take minutes.
      const text = unit.repeat(100_000)
      expect(hide.text(`${text}${value}`)).toContain('***')
      expect(hide.bytes(Buffer.from(`a${text}!`))?.length ?? 0).toBeLessThan(text.length + 3)
    }
  },
)

test('masks a secret with underscores in Markdown', () => {
  expect(makeMask(['_a_b*']).text(String.raw`x \_a\_b\* y`)).toBe('x *** y')
})

test('masks nothing without secrets', () => {
  const none = makeMask(['', '\n'])
  expect(none.text('a b')).toBe('a b')
  expect(none.deep({ a: 1 })).toEqual({ a: 1 })
})

test('masks any secret in any encoding', () => {
  const ways = [
    (text: string) => text,
    (text: string) => JSON.stringify(text),
    (text: string) => encodeURIComponent(text),
    (text: string) => new URLSearchParams({ q: text }).toString(),
    (text: string) => base64(`user:${text}`),
    (text: string) => JSON.stringify(JSON.stringify(text)),
    (text: string) => encodeURIComponent(JSON.stringify(text)),
    (text: string) => encodeURIComponent(encodeURIComponent(text)),
  ]
  const word = fc.string({ minLength: 6, maxLength: 20, unit: 'grapheme' }).filter((text) => !/[*\s=]/.test(text))
  fc.assert(
    fc.property(word, fc.constantFrom(...ways), (value, way) => {
      const hidden = makeMask([value]).text(`before ${way(value)} after`)
      expect(hidden).toContain('***')
      expect(hidden).not.toContain(value)
    }),
  )
})

test('masks secrets in the texts of a trace, and keeps its images', async () => {
  const entries = {
    'trace.trace': strToU8(`{"params":{"value":${JSON.stringify(secret)}}}\n`),
    'resources/body.dat': strToU8(`password=${new URLSearchParams({ x: secret }).toString().slice(2)}&raw=${secret}`),
    'resources/a.jpeg': strToU8(secret),
    'resources/b.css': strToU8('a{}'),
  }
  const masked = unzipSync(await maskTrace(zipSync(entries), mask))
  expect(strFromU8(masked['trace.trace']!)).toBe('{"params":{"value":"***"}}\n')
  expect(strFromU8(masked['resources/body.dat']!)).toBe('password=***&raw=***')
  expect(masked['resources/a.jpeg']).toEqual(entries['resources/a.jpeg'])
  expect(masked['resources/b.css']).toEqual(entries['resources/b.css'])
})

test('leaves a trace without secrets unchanged', async () => {
  const zip = zipSync({ 'trace.trace': strToU8('{}') })
  expect(await maskTrace(zip, mask)).toBe(zip)
})
