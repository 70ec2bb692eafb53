/** Copies of pages as lists of parts: consecutive copies share most of them. */
import { limits } from '../../../core/limits/limits.ts'

/** A part ends where a tag begins, so that no text is divided between two parts. */
const [shortestPart, longestPart] = [512, 16_384]

export class PageStore {
  readonly parts: string[] = []
  readonly #numbers = new Map<string, number>()
  #chars = 0

  /** Returns the numbers of the parts; undefined when the memory for copies is used up. */
  add(html: string): readonly number[] | undefined {
    const parts = partsOf(html)
    const added = parts.filter((part) => !this.#numbers.has(part)).reduce((sum, { length }) => sum + length, 0)
    if (!this.reserve(added)) return undefined
    return parts.map((part) => {
      const known = this.#numbers.get(part)
      if (known !== undefined) return known
      const number = this.parts.push(part) - 1
      this.#numbers.set(part, number)
      return number
    })
  }

  get chars(): number {
    return this.#chars
  }

  /** Counts characters, also of a screenshot beside the parts; returns whether the memory for copies has room. */
  reserve(chars: number): boolean {
    if (this.#chars + chars > limits.replay.chars) return false
    this.#chars += chars
    return true
  }
}

/** Divides HTML at tags that its content determines, so that a change moves only the ends around it. */
function partsOf(html: string): string[] {
  const parts: string[] = []
  let part = ''
  for (const piece of html.split(/(?=<)/)) {
    const ends = part.length >= longestPart || (part.length >= shortestPart && checksum(piece) % 8 === 0)
    if (ends) {
      parts.push(part)
      part = ''
    }
    part += piece
  }
  return [...parts, part]
}

function checksum(text: string): number {
  let sum = text.length
  for (let at = 0; at < Math.min(text.length, 24); at++) sum = (sum * 31 + text.charCodeAt(at)) % 65_521
  return sum
}
