import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { encodeBytes, incompleteTail } from '../../../../src/engine/shell/exec/characters.ts'
import { Pieces } from '../../../../src/engine/shell/exec/pieces.ts'

const all = (chunks: readonly Uint8Array[]) => {
  const pieces = new Pieces()
  return [...chunks.flatMap((chunk) => pieces.push(chunk)), ...pieces.flush()]
}
const joined = (pieces: ReturnType<typeof all>) =>
  Buffer.concat(pieces.map(({ data, encoding }) => Buffer.from(data, encoding)))

describe('pieces of output', () => {
  test('join to the exact bytes for any chunks, with contiguous offsets', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 }), (chunks) => {
        const pieces = all(chunks)
        expect(joined(pieces).equals(Buffer.concat(chunks))).toBe(true)
        let offset = 0
        for (const piece of pieces) {
          expect(piece.offset).toBe(offset)
          offset += Buffer.from(piece.data, piece.encoding).length
        }
      }),
    )
  })

  test('join to the exact bytes with characters that were flushed in parts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.boolean()), { maxLength: 30 }), (chunks) => {
        const pieces = new Pieces()
        const told = chunks.flatMap(([chunk, late]) => [...pieces.push(chunk), ...(late ? pieces.flush() : [])])
        const whole = Buffer.concat(chunks.map(([chunk]) => chunk))
        expect(joined([...told, ...pieces.flush()]).equals(whole)).toBe(true)
      }),
    )
  })

  test('of text are text for any chunks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const bytes = Buffer.from(text)
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        )
        const pieces = all(chunks)
        expect(pieces.every(({ encoding }) => encoding === 'utf8')).toBe(true)
        expect(pieces.map(({ data }) => data).join('')).toBe(text)
      }),
    )
  })

  test('are small and do not split characters', () => {
    const text = '€'.repeat(50_000)
    const pieces = all([Buffer.from(text)])
    expect(pieces.length).toBeGreaterThan(4)
    for (const { data } of pieces) expect(Buffer.byteLength(data)).toBeLessThanOrEqual(limits.exec.chunkBytes)
    expect(pieces.map(({ data }) => data).join('')).toBe(text)
  })

  test('hold back incomplete characters only', () => {
    const pieces = new Pieces()
    expect(pieces.push(Buffer.from([0x61, 0xf0, 0x9f]))).toEqual([{ data: 'a', encoding: 'utf8', offset: 0 }])
    expect(pieces.hasIncomplete).toBe(true)
    expect(pieces.flush()).toEqual([{ data: '8J8=', encoding: 'base64', offset: 1 }])
    expect(pieces.push(Buffer.from([0x98]))).toEqual([{ data: 'mA==', encoding: 'base64', offset: 3 }])
    expect(pieces.push(Buffer.from([0x80, 0x62]))).toEqual([
      { data: 'gA==', encoding: 'base64', offset: 4 },
      { data: 'b', encoding: 'utf8', offset: 5 },
    ])
    expect(pieces.push(Buffer.from([0xff]))).toEqual([{ data: '/w==', encoding: 'base64', offset: 6 }])
    expect(pieces.hasIncomplete).toBe(false)
  })
})

describe('bytes as text', () => {
  test.each([
    ['abc', 0],
    ['c3', 1],
    ['e282', 2],
    ['f09f98', 3],
    ['c3a9', 0],
    ['80', 0],
    ['8080', 0],
    ['ff', 0],
    ['', 0],
  ])('%s ends with %i bytes of an incomplete character', (hex, tail) => {
    expect(incompleteTail(hex === 'abc' ? Buffer.from(hex) : Buffer.from(hex, 'hex'))).toBe(tail)
  })

  test('truncated text ends with a complete character, and truncated bytes are complete', () => {
    expect(encodeBytes(Buffer.from('61c3', 'hex'), 'auto', true)).toEqual({ text: 'a', encoding: 'utf8' })
    expect(encodeBytes(Buffer.from('61c3', 'hex'), 'auto')).toEqual({ text: 'YcM=', encoding: 'base64' })
    expect(encodeBytes(Buffer.from('ff61c3', 'hex'), 'auto', true)).toEqual({ text: '/2HD', encoding: 'base64' })
    expect(encodeBytes(Buffer.from('ff61', 'hex'), 'utf8')).toEqual({ text: '\ufffda', encoding: 'utf8' })
  })
})
