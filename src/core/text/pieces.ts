/** Long texts in pieces that regular expressions can process. */

/**
 * Maximum number of characters of a piece. A repetition such as `[\w-]+` that matches several million characters throws
 * a RangeError ("Maximum call stack size exceeded"): V8 limits its backtrack stack to 64 MB. How many it takes depends on
 * the process: V8 compiles expressions without optimization after the first megabyte of their machine code.
 * https://github.com/v8/v8/blob/main/src/regexp/regexp-stack.h (`kMaximumStackSize`)
 */
const pieceChars = 1_000_000
/** Characters before the end of a piece that are searched for a place to cut. */
const windowChars = 4096

/**
 * Replaces a text piece by piece. Each ends before the last match of `boundary`, a global expression for one character, if
 * there is one near its end.
 */
export function inPieces(text: string, boundary: RegExp, replace: (piece: string) => string): string {
  if (text.length <= pieceChars) return replace(text)
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    const end = endOfPiece(text, start, boundary)
    pieces.push(replace(text.slice(start, end)))
    start = end
  }
  return pieces.join('')
}

/** Replaces runs of characters, such as `/\s+/g`, however long they are; the expression also matches the replacement. */
export function replaceRuns(text: string, runs: RegExp, replacement: string): string {
  if (text.length <= pieceChars) return text.replaceAll(runs, replacement)
  // Runs across the end of a piece have two replacements at first.
  return inPieces(text, anyCharacter, (piece) => piece.replaceAll(runs, replacement)).replaceAll(runs, replacement)
}

const anyCharacter = /[^]/gu

/** Collapses white space to single spaces, and removes it from both ends. */
export const squeeze = (text: string): string => replaceRuns(text, /\s+/g, ' ').trim()

/** Returns the length of the longest run of a character. */
export function longestRun(text: string, char: string): number {
  let longest = 0
  for (let at = text.indexOf(char), end = 0; at !== -1; at = text.indexOf(char, end)) {
    end = at + 1
    while (text[end] === char) end++
    longest = Math.max(longest, end - at)
  }
  return longest
}

function endOfPiece(text: string, start: number, boundary: RegExp): number {
  const end = start + pieceChars
  if (end >= text.length) return text.length
  const window = end - windowChars
  const last = [...text.slice(window, end).matchAll(boundary)].at(-1)
  return last ? window + last.index : end
}
