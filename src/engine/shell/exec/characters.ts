/** Bytes as text where they are text: exact, cut between characters, and never lossy unless that was asked for. */
import { isUtf8 } from 'node:buffer'

export type Encoding = 'utf8' | 'base64'

export interface Encoded {
  readonly text: string
  readonly encoding: Encoding
}

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** How many of the last bytes are the beginning of a character whose rest is missing: 0 to 3. */
export function incompleteTail(bytes: Uint8Array): number {
  const { length } = bytes
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0
  }
  return 0
}

/** Bytes of a character by its first one; 0 for what begins none. */
export const lengthOf = (lead: number): number =>
  lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0

/**
 * `auto`: text where all of it is UTF-8, else all of it as base64; `utf8`: U+FFFD for what is none.
 * What was `cut` off at a length ends at a character when it is text.
 */
export function encodeBytes(bytes: Uint8Array, wanted: 'auto' | Encoding, cut = false): Encoded {
  const buffer = asBuffer(bytes)
  if (wanted === 'base64') return { text: buffer.toString('base64'), encoding: 'base64' }
  const whole = cut ? buffer.subarray(0, buffer.length - incompleteTail(buffer)) : buffer
  if (wanted === 'utf8' || isUtf8(whole)) return { text: whole.toString('utf8'), encoding: 'utf8' }
  return { text: buffer.toString('base64'), encoding: 'base64' }
}
