/** How much JSON holds, found without reading it into values: that takes long, and who comes later walks them by recursion. */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

export interface JsonBounds {
  /** Lists and objects in one another. */
  readonly depth: number
  /** Values of every kind, lists and objects included. */
  readonly values: number
}

/** The first bound that the text of JSON goes beyond. What is no JSON is left to the parser. */
export function excessOf(bytes: Uint8Array, most: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0
  // One more begins in each list or object that is not empty, and after each comma.
  let values = 1
  let strings = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at)
      if (at < 0) return undefined
      strings += 1
      // Every value has one name at most.
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

/** Where the quote is that ends the string which begins at `start`; -1 when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === backslash) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return -1
}
