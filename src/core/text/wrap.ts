/** Wraps words to lines. */

/** A word or a line in its style, and the number of columns that it takes. */
export interface Text {
  readonly shown: string
  readonly length: number
}

/** Joins words to lines of at most `width` columns; a longer word has a line of its own. */
export function wrap(words: readonly Text[], width: number): Text[] {
  const lines: Text[] = []
  for (const word of words) {
    const line = lines.at(-1)
    if (line && line.length + 1 + word.length <= width) {
      lines[lines.length - 1] = { shown: `${line.shown} ${word.shown}`, length: line.length + 1 + word.length }
    } else lines.push(word)
  }
  return lines
}
