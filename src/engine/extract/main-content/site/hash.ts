/** Fast hashes of 32 bits, for keys that are compared within one site. */

const prime = 0x01_00_01_93

/** Continues an FNV-1a hash with a text. */
export function addText(hash: number, text: string): number {
  let value = hash
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), prime)
  return value
}

/** Returns the FNV-1a hash of a text, with mixed bits. */
export const hashText = (text: string, seed = 0x81_1c_9d_c5): number => mix(addText(seed, text))

export const combineHashes = (parent: number, own: number): number => mix(Math.imul(parent, prime) ^ own)

/** Spreads the bits of a hash: those of short texts differ in their lower bits only. */
function mix(value: number): number {
  const spread = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b)
  return (spread ^ (spread >>> 13)) >>> 0
}
