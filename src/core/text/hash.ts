import { createHash } from 'node:crypto'

/** Returns a stable hash of a text: a whole number below 2^53. */
export function hashOf(text: string): number {
  const bytes = createHash('sha1').update(text).digest()
  return bytes.readUInt32BE(0) * 0x20_0000 + (bytes.readUInt32BE(4) >>> 11)
}
