/** How deep JSON is nested, found without reading it into values: those who come later walk them by recursion. */

const quote = 0x22
const backslash = 0x5c

/** Whether lists and objects stand in one another more than `most` times. What is no JSON is left to the parser. */
export function isDeeper(bytes: Uint8Array, most: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at)
      if (at < 0) return false
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      if (depth > most) return true
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return false
}

/** Where the quote is that ends the string which begins at `start`; -1 when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === backslash) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return -1
}
