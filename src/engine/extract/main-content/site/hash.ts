/** Fast hashes of 32 bits, for keys that are compared within one site. They are signed, which V8 stores without objects. */

const prime = 0x01_00_01_93
const offset = 0x81_1c_9d_c5 | 0

const encoder = new TextEncoder()
const bytes = new Uint8Array(32 * 1024)
const words = new Int32Array(bytes.buffer)

/** Returns a hash of a text: MurmurHash3 over its UTF-8 bytes and its length. */
export function hashText(text: string, seed = offset): number {
  let value = seed
  for (let rest = text; rest !== '';) {
    const { read, written } = encoder.encodeInto(rest, bytes)
    const count = (written + 3) >> 2
    // Bytes of the text before would be part of the last word.
    for (let at = written; at < count * 4; at++) bytes[at] = 0
    for (let at = 0; at < count; at++) {
      const word = Math.imul(words[at]!, 0xcc_9e_2d_51)
      value ^= Math.imul((word << 15) | (word >>> 17), 0x1b_87_35_93)
      value = (Math.imul((value << 13) | (value >>> 19), 5) + 0xe6_54_6b_64) | 0
    }
    rest = rest.slice(read)
  }
  return mix(value ^ text.length)
}

export const combineHashes = (parent: number, own: number): number => mix(Math.imul(parent, prime) ^ own)

/** Spreads the bits of a hash: each bit of the value changes half of those of the result. */
function mix(value: number): number {
  let spread = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b)
  spread = Math.imul(spread ^ (spread >>> 13), 0xc2_b2_ae_35)
  return spread ^ (spread >>> 16)
}
