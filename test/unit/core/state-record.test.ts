import { describe, expect, test } from 'vitest'
import { decodeRecord, encodeRecord } from '../../../src/core/state/state-record.ts'

const isContent = (value: object) => 'name' in value
const content = { name: 'Ann – “quoted” \ud83d\ude00', list: [1, { deep: null }], empty: '', sha256: 'a'.repeat(64) }
const text = encodeRecord(content)
const decode = (damaged: string | Buffer) => decodeRecord<typeof content>(damaged.toString(), { isContent })

describe('a record', () => {
  test('is JSON, and is read back unchanged', () => {
    expect(JSON.parse(text)).toMatchObject(content)
    expect(decode(text)).toEqual({ content })
    expect(decode(`${text}\n`)).toEqual({ content })
  })

  test('of an earlier version is checked by its shape only', () => {
    expect(decode(JSON.stringify(content, null, 2))).toEqual({ content })
    expect(decode('{"title":"of another kind"}')).toEqual({ damage: 'it has another shape' })
  })

  test('of a later version is rejected', () => {
    expect(decode('{"$bax":2,"name":"Ann"}')).toEqual({ damage: 'it has the version 2, not 1' })
  })

  test('truncated at any length is damaged', () => {
    const bytes = Buffer.from(text)
    for (let length = 0; length < bytes.length; length += 1)
      expect(decode(bytes.subarray(0, length))).toHaveProperty('damage')
  })

  test('with any flipped bit is damaged, or has the same content', () => {
    const bytes = Buffer.from(text)
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const read = decode(flipped)
      if ('content' in read) expect(read).toEqual({ content })
    }
  })

  test.each(['', '\n', 'null', '7', '[]', '\0\0\0\0', '\u001b[2J', '{"name":'])('%j is damaged', (garbage) => {
    expect(decode(garbage)).toHaveProperty('damage')
  })
})
