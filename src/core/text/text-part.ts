/** Cuts texts without splitting characters. */

/** Returns a position, or the next one if it is within a surrogate pair. */
export const charStart = (text: string, at: number): number => ((text.codePointAt(at - 1) ?? 0) > 0xffff ? at + 1 : at)

interface TextPart {
  readonly text: string
  /** Position after the part, and the number of characters from there. */
  readonly next: number
  readonly rest: number
}

/** Returns the part of a text from a position on, with at least one character if there is any. */
export function textPart(whole: string, { offset, maxChars }: { offset: number; maxChars: number }): TextPart {
  const start = Math.min(charStart(whole, offset), whole.length)
  const next = Math.min(charStart(whole, start + maxChars), whole.length)
  return { text: whole.slice(start, next), next, rest: whole.length - next }
}
