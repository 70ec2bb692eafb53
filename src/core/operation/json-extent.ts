/** Measures JSON text without parsing it: parsing takes long, and later steps traverse the values recursively. */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

export interface JsonLimits {
  /** Nesting depth of lists and objects. */
  readonly depth: number
  /** Number of values of every kind, including lists and objects. */
  readonly values: number
}

/** Returns the first limit that the JSON text exceeds. Invalid JSON is left to the parser. */
export function exceededLimit(bytes: Uint8Array, most: JsonLimits): keyof JsonLimits | undefined {
  let depth = 0
  // Each non-empty list or object and each comma adds one.
  let values = 1
  let strings = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at)
      if (at < 0) return undefined
      strings += 1
      // Every value has at most one name.
      if (strings > 2 * most.values) return 'values'
    } else if (byte === comma) values += 1
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth > most.depth) return 'depth'
      if (!isEnd(bytes[at + 1])) values += 1
    } else if (isEnd(byte)) depth -= 1
    if (values > most.values) return 'values'
  }
  return undefined
}

const isEnd = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d

/** Returns the index of the quote that ends the string starting at `start`; -1 when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === backslash) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return -1
}
