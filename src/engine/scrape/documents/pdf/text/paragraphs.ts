/** Joins lines to paragraphs. */
import { isRightToLeft } from '../page/bidi.ts'
import type { Line } from '../blocks.ts'
import { itemStarts, type Marker } from './lists.ts'
import { boxAround } from '../page/page-content.ts'

export interface Paragraph {
  readonly lines: Line[]
  readonly marker?: Marker | undefined
}

/** The usual layout of the lines of a column. */
interface Usual {
  readonly pitch: number
  readonly left: number
  readonly right: number
  /** Whether paragraphs start at the left, and go on with an indent. */
  readonly isHanging: boolean
  readonly starts: ReadonlyMap<Line, Marker>
}

export function paragraphsOf(lines: readonly Line[]): Paragraph[] {
  const { left, right } = boxAround(lines)
  const usual = {
    pitch: usualPitch(lines, right - left),
    left,
    right,
    isHanging: areHanging(lines, left),
    starts: itemStarts(lines),
  }
  const paragraphs: Paragraph[] = []
  for (const line of lines) {
    const current = paragraphs.at(-1)
    const marker = usual.starts.get(line)
    if (current && !marker && continues(current, line, usual)) current.lines.push(line)
    else paragraphs.push({ lines: [line], marker })
  }
  return paragraphs
}

/** Returns the distance of lines within paragraphs: small among all, because there are larger ones between them. */
function usualPitch(lines: readonly Line[], width: number): number {
  const pitches = lines.slice(1).map((line, at) => (line.bottom - lines[at]!.bottom) / line.size)
  const sorted = pitches.filter((pitch) => pitch > 0.5).toSorted((a, b) => a - b)
  const pitch = sorted[Math.floor(sorted.length / 4)] ?? 1.2
  // Only filled lines show that distant lines are one text.
  const filled = lines.filter((line) => line.right - line.left > width * 0.8).length
  return pitch > 1.7 && (lines.length < 5 || filled < lines.length * 0.6) ? 1.3 : pitch
}

/** Dots that led to the number of a page. */
const endsEntry = / … [\divxl]+$/

/** Label of an entry of a bibliography. */
const reference = /^\[[\p{L}\d+-]{1,8}\]\s/u

function areHanging(lines: readonly Line[], left: number): boolean {
  const inner = lines.filter((line) => line.left > left + line.size * 0.8 && line.left < left + line.size * 4).length
  return inner >= 3 && inner >= lines.length * 0.5 && lines[0]!.left < left + 1 && inner < lines.length
}

const endsSentence = /[.!?:;。!?][)\]"'”’»]*$/

function continues({ lines, marker }: Paragraph, line: Line, usual: Usual): boolean {
  const last = lines.at(-1)!
  if (endsEntry.test(last.text)) return false
  const size = Math.max(last.size, line.size)
  if (Math.abs(last.size - line.size) > size * 0.08) return false
  const pitch = (line.bottom - last.bottom) / size
  if (pitch > usual.pitch * 1.25 + 0.05 || pitch < 0) return false
  if (isHyphenated(last.text) && /^\p{Ll}/u.test(line.text)) return true
  const first = lines[0]!
  if (marker && line.left <= first.left + 0.5) return false
  if (reference.test(line.text) && (reference.test(first.text) || endsSentence.test(last.text))) return false
  const isCentred =
    Math.abs(last.left + last.right - line.left - line.right) < size * 0.5 && last.left - usual.left > size
  const isOpen = /^\p{Ll}/u.test(line.text) && !endsSentence.test(last.text)
  const isShort = !isCentred && !isOpen && isShortLine(last, line, usual)
  if (last.bold !== line.bold && (isShort || endsSentence.test(last.text))) return false
  if (isShort && !marker) return false
  const indent = Math.abs(line.left - last.left)
  if (usual.isHanging && line.left < usual.left + 1 && last.left > usual.left + size * 0.8) return false
  const isFirstOfItem = lines.length === 1 && (marker !== undefined || usual.isHanging || reference.test(first.text))
  return !(
    indent > size * 0.8 &&
    !isCentred &&
    !isFirstOfItem &&
    !isRightToLeft(line.text) &&
    endsSentence.test(last.text)
  )
}

export const isHyphenated = (text: string): boolean => /[\p{L}][-\u2010\u00AD]$/u.test(text)

/** Whether the next word would have had room on the line. */
function isShortLine(last: Line, next: Line, { left, right }: Usual): boolean {
  const words = next.text.split(' ')
  const word = ((next.right - next.left) * (words[0]!.length + 1)) / Math.max(1, next.text.length)
  const room = isRightToLeft(last.text) ? last.left - left : right - last.right
  return room > word * 1.25 + last.size * 0.5
}
