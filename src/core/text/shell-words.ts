/** Splits lines into words as a shell does. */

/**
 * Splits at spaces that are neither quoted nor escaped with a backslash. `lastAt` is the start of the last word in the
 * line, or the line's length when a new word begins there; `open` is the quote that is not closed.
 */
export function splitWords(line: string) {
  const words: string[] = []
  let word: string | undefined
  let lastAt = 0
  let open: '"' | "'" | null = null
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]!
    if (open === null && character === ' ') {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    if (word === undefined) lastAt = at
    word ??= ''
    if (open !== null && character === open) open = null
    else if (open === null && (character === '"' || character === "'")) open = character
    else if (character === '\\' && open !== "'" && at + 1 < line.length) word += line[(at += 1)]!
    else word += character
  }
  if (word === undefined) return { words, lastAt: line.length, open }
  return { words: [...words, word], lastAt, open }
}

/** Quotes a word so that `splitWords` keeps it together. */
export const quoteWord = (word: string): string =>
  word !== '' && !/[^\w./:=@%+,#-]/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`
