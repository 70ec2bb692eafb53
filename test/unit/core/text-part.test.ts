import { expect, test } from 'vitest'
import { textPart } from '../../../src/core/text/text-part.ts'

test.each(['😀😀', 'a😀b', 'plain', '', '\uD83D', '\uDE00x\uD83D'])(
  'the parts of %j are the text, and none splits a character',
  (whole) => {
    const parts: string[] = []
    let rest = whole.length
    for (let offset = 0; rest > 0;) {
      const part = textPart(whole, { offset, maxChars: 1 })
      parts.push(part.text)
      offset = part.next
      rest = part.rest
    }
    expect(parts).toEqual([...whole])
  },
)

test('a part begins with a whole character', () => {
  expect(textPart('😀😀', { offset: 1, maxChars: Infinity })).toEqual({ text: '😀', next: 4, rest: 0 })
  expect(textPart('😀', { offset: 9, maxChars: 1 })).toEqual({ text: '', next: 2, rest: 0 })
})
