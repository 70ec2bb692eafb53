/** Fast hashes of 32 bits, for keys that are compared within one site. They are signed, which V8 stores without objects. */

const prime = 0x01_00_01_93
const offset = 0x81_1c_9d_c5 | 0

const encoder = new TextEncoder()
const bytes = new Uint8Array(32 * 1024)
const words = new Int32Array(bytes.buffer)

/** Returns a hash of a text: FNV-1a over words of its UTF-8 bytes, which takes a quarter of the time of single characters. */
export function hashText(text: string, seed = offset): number {
  let value = seed
  for (let rest = text; rest !== '';) {
    const { read, written } = encoder.encodeInto(rest, bytes)
    const count = (written + 3) >> 2
    // Bytes of the text before would be part of the last word.
    for (let at = written; at < count * 4; at++) bytes[at] = 0
    for (let at = 0; at < count; at++) {
      value = Math.imul(value ^ words[at]!, prime)
      value ^= value >>> 15
    }
    rest = rest.slice(read)
  }
  return mix(value ^ text.length)
}

export const combineHashes = (parent: number, own: number): number => mix(Math.imul(parent, prime) ^ own)

/** Spreads the bits of a hash: those of short texts differ in their lower bits only. */
function mix(value: number): number {
  const spread = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b)
  return spread ^ (spread >>> 13)
}
