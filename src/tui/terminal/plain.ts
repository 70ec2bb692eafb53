/** Measures, cuts and wraps text from pages and programs for the terminal. */
import stringWidth from 'string-width'
import { plain } from '../../core/text/plain.ts'

const isAscii = (text: string): boolean => !/[^ -~]/.test(text)

/** Returns the width of plain text, in columns. */
export const widthOf = (text: string): number => (isAscii(text) ? text.length : stringWidth(text))

const segmenter = new Intl.Segmenter()

/** Truncates plain text to `width` columns, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (width <= 0) return ''
  if (widthOf(text) <= width) return text
  if (isAscii(text)) return `${text.slice(0, width - 1)}…`
  let kept = ''
  let taken = 0
  for (const { segment } of segmenter.segment(text)) {
    taken += stringWidth(segment)
    if (taken > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

/** Truncates or pads plain text to exactly `width` columns. */
export function fit(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const short = cut(text, width)
  const room = ' '.repeat(Math.max(0, width - widthOf(short)))
  return side === 'left' ? short + room : room + short
}

/** Splits text into lines of at most `width` columns, at spaces where possible. */
export function wrap(text: string, width: number): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrapLine(plain(line), Math.max(1, width)))
}

function wrapLine(line: string, width: number): string[] {
  const found: string[] = []
  let rest = line
  while (widthOf(rest) > width) {
    let end = 0
    let taken = 0
    let space = 0
    for (const { segment, index } of segmenter.segment(rest)) {
      taken += widthOf(segment)
      if (taken > width) break
      end = index + segment.length
      if (segment === ' ') space = end
    }
    const at = space > width / 3 ? space : Math.max(end, 1)
    found.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at)
  }
  return [...found, rest]
}
