/**
 * Checksums that detect damage, not tampering. In plain JavaScript: loading `node:crypto` would delay a one-liner more
 * than reading its files. Changing any single character changes the checksum.
 */

/** Returns 16 hexadecimal digits; pass bytes as `latin1` text. */
export function checksumOf(text: string): string {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    low = Math.imul(low ^ char, 2_654_435_761)
    high = Math.imul(high ^ char, 1_597_334_677)
  }
  return hex(high) + hex(low)
}

const hex = (number: number): string => (number >>> 0).toString(16).padStart(8, '0')
