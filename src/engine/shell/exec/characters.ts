/**
 * Encodes bytes as text where possible: exact, split between characters, and lossy only on request. Decodes text and
 * base64 of a request to exact bytes.
 */
import { isUtf8 } from 'node:buffer'
import { BaxError } from '../../../core/errors/errors.ts'

export type Encoding = 'utf8' | 'base64'

export interface Encoded {
  readonly text: string
  readonly encoding: Encoding
}

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns the number of bytes at the end that are an incomplete character: 0 to 3. */
export function incompleteTail(bytes: Uint8Array): number {
  const { length } = bytes
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0
  }
  return 0
}

/** Returns the length of a character by its first byte; 0 for an invalid one. */
export const lengthOf = (lead: number): number =>
  lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0

/**
 * Encodes bytes. `auto` returns text if all of it is UTF-8, else base64; `utf8` replaces invalid bytes with U+FFFD.
 * Text that was `cut` off at a length ends with a complete character.
 */
export function encodeBytes(bytes: Uint8Array, requested: 'auto' | Encoding, cut = false): Encoded {
  const buffer = asBuffer(bytes)
  if (requested === 'base64') return { text: buffer.toString('base64'), encoding: 'base64' }
  const complete = cut ? buffer.subarray(0, buffer.length - incompleteTail(buffer)) : buffer
  if (requested === 'utf8' || isUtf8(complete)) return { text: complete.toString('utf8'), encoding: 'utf8' }
  return { text: buffer.toString('base64'), encoding: 'base64' }
}

const notBase64 = /[^A-Za-z0-9+/]/

/** @throws BaxError `invalid_request` naming `field` if it cannot be decoded exactly. */
export function bytesOf(text: string, encoding: Encoding, field: string): Buffer {
  if (encoding === 'utf8') {
    const bytes = Buffer.from(text, 'utf8')
    // A lone surrogate has no encoding; Node would silently write a replacement.
    if (loneSurrogate.test(text)) throw invalid(field, 'is not well-formed Unicode text')
    return bytes
  }
  if (text.length % 4 !== 0 || notBase64.test(text.replace(/={1,2}$/, ''))) throw invalid(field, 'is not base64')
  return Buffer.from(text, 'base64')
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

const invalid = (field: string, message: string) =>
  new BaxError('invalid_request', `${field} ${message}`, { details: [{ path: field, message }] })
