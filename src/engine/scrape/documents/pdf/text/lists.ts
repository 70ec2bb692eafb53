/** Recognizes the markers of lists. */
import type { Line } from '../blocks.ts'

export interface Marker {
  readonly kind: 'bullet' | 'dash' | 'number'
  /** Length of the marker in the text, with the space after it. */
  readonly length: number
  readonly number: number
}

const bullets = /^[•◦▪▫‣⁃∙●○■□➢➤✓✔☐☑❖◆◇▶►\u2022\uF0B7]\s*(?=\S)/u
const dashes = /^[-–—*·]\s+(?=\S)/
const numbers = /^(?:(\d{1,3})[.)]|\((\d{1,3})\))\s+(?=\S)/

export function markerOf(text: string): Marker | undefined {
  const bullet = bullets.exec(text)
  if (bullet) return { kind: 'bullet', length: bullet[0].length, number: 0 }
  const dash = dashes.exec(text)
  if (dash) return { kind: 'dash', length: dash[0].length, number: 0 }
  const number = numbers.exec(text)
  if (number) return { kind: 'number', length: number[0].length, number: Number(number[1] ?? number[2]) }
  return undefined
}

export const startsItem = (text: string): boolean => markerOf(text) !== undefined

export const areNeighbours = (one: Marker, other: Marker): boolean =>
  one.kind === other.kind && (one.kind !== 'number' || Math.abs(one.number - other.number) === 1)

/** Returns the lines that start an item. A single dash or number does not make a list. */
export function itemStarts(lines: readonly Line[]): Map<Line, Marker> {
  const marked = lines.flatMap((line) => {
    const marker = markerOf(line.text)
    return marker ? [{ line, marker }] : []
  })
  const starts = new Map<Line, Marker>()
  for (const [at, { line, marker }] of marked.entries()) {
    const near = [...marked.slice(Math.max(0, at - 8), at), ...marked.slice(at + 1, at + 9)]
    const hasFellow = near.some((other) => {
      return Math.abs(other.line.left - line.left) <= line.size && areNeighbours(marker, other.marker)
    })
    if (marker.kind === 'bullet' || hasFellow) starts.set(line, marker)
  }
  return starts
}
