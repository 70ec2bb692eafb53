/** Text with code spans, bold words and links, as words and lines for a terminal. */
import type { Style } from '../output/style.ts'

export interface Layout {
  readonly style: Style
  /** Number of columns. */
  readonly width: number
  /** Returns what to show beside the text of a link; undefined shows the text only. */
  readonly target: (url: string) => string | undefined
}

/** A word or a line in its style, and the number of columns that it takes. */
export interface Text {
  readonly shown: string
  readonly length: number
}

const link = /\[([^\]]+)\]\(([^()\s]+)\)/g

/** Splits Markdown into words, each in the style of the code span or the bold text that contains it. */
export function styledWords(markdown: string, { style, target }: Layout): Text[] {
  const text = markdown.replaceAll(link, (_, shown: string, url: string) => {
    const more = target(url)
    return more === undefined ? shown : `${shown} (${more})`
  })
  const words: Text[] = []
  let isBold = false
  let isOpen = false
  for (const part of text.split(/(`[^`]+`|\*\*|\s+)/)) {
    if (part === '**') isBold = !isBold
    else if (part.trim() === '') isOpen &&= part === ''
    else {
      for (const [at, word] of piecesOf(part).entries()) {
        const piece = { shown: paint(word, part, isBold, style), length: word.length }
        // Text right after a code span, such as a comma, must stay on its line.
        const before = isOpen && at === 0 ? words.pop() : undefined
        words.push(before ? { shown: before.shown + piece.shown, length: before.length + piece.length } : piece)
      }
      isOpen = true
    }
  }
  return words
}

const isCode = (part: string): boolean => /^`.+`$/s.test(part)

const piecesOf = (part: string): string[] =>
  isCode(part) ? part.slice(1, -1).replaceAll('\\|', '|').trim().split(/\s+/) : [part.replaceAll('\\|', '|')]

function paint(word: string, part: string, isBold: boolean, { cyan, bold }: Style): string {
  const coloured = isCode(part) ? cyan(word) : word
  return isBold ? bold(coloured) : coloured
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
