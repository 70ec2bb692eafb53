/** Text with code spans, bold words and links, as words and lines for a terminal. */
import type { Text } from '../../core/text/wrap.ts'
import type { Style } from '../output/style.ts'

export interface Layout {
  readonly style: Style
  /** Number of columns. */
  readonly width: number
  /** Returns what to show beside the text of a link; undefined shows the text only. */
  readonly target: (url: string) => string | undefined
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
