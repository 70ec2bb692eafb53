/** A line as a shell would split it. */

interface Split {
  readonly words: readonly string[]
  /** Where the last word begins in the line; its length when a new one begins there. */
  readonly lastAt: number
  /** A quote that was never closed. */
  readonly open: '"' | "'" | null
}

/** Spaces divide words; quotes and backslashes keep them together. */
export function splitWords(line: string): Split {
  const words: string[] = []
  let word: string | undefined
  let lastAt = 0
  let open: Split['open'] = null
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at]!
    if (open === null && sign === ' ') {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    if (word === undefined) lastAt = at
    word ??= ''
    if (open !== null && sign === open) open = null
    else if (open === null && (sign === '"' || sign === "'")) open = sign
    else if (sign === '\\' && open !== "'" && at + 1 < line.length) word += line[(at += 1)]!
    else word += sign
  }
  if (word !== undefined) words.push(word)
  return word === undefined ? { words, lastAt: line.length, open } : { words, lastAt, open }
}

/** A word as it has to be typed to be one. */
export const quoted = (word: string): string =>
  /^[\w./:=@%+,#-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`
