/**
 * Finds the destinations of the links in Markdown. A full parser takes half a minute for the index of a manual, because
 * its time grows faster than the text; this scanner only distinguishes links from code.
 */

/** A destination, at `start` (inclusive) to `end` (exclusive) of the text. */
export interface Destination {
  readonly start: number
  readonly end: number
  /** The URL without `<>` and escapes. */
  readonly url: string
}

// A fence, an escaped character, a run of backticks, a definition, a bracket, or an empty line.
const marks =
  /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?<fence>`{3,}(?=[^`\n]*$)|~{3,})|\\[^\n]|(?<code>`+)|^[ >]{0,8}\[[^\]^\n][^\]\n]*\](?<definition>:[ \t]+)|(?<open>\[)|(?<link>\]\([ \t]*)|(?<close>\])|\n[ \t>]*(?<blank>(?=\n))/gm

/** Yields the destinations in the order of the text. */
export function* destinationsIn(text: string): Generator<Destination> {
  const scan = new RegExp(marks)
  let runs: CodeRuns | undefined
  let opened = 0
  for (let found = scan.exec(text); found; found = scan.exec(text)) {
    const { fence, code, definition, open, link, close, blank } = found.groups!
    if (fence !== undefined) scan.lastIndex = endOfFence(text, fence, scan.lastIndex)
    else if (code !== undefined) {
      if (runs === undefined || found.index >= runs.end) runs = new CodeRuns(text, found.index)
      scan.lastIndex = runs.closing(code.length, scan.lastIndex) ?? scan.lastIndex
    } else if (open !== undefined) opened++
    else if (blank !== undefined) opened = 0
    else if (definition !== undefined || (link !== undefined && opened > 0)) {
      const destination = destinationAt(text, scan.lastIndex)
      if (destination) {
        yield destination
        scan.lastIndex = destination.end
      }
    }
    if (close !== undefined || link !== undefined) opened = Math.max(0, opened - 1)
  }
}

/** Returns the end of the line that closes a fence, or the end of the text. */
function endOfFence(text: string, fence: string, from: number): number {
  const closing = new RegExp(`^[ \\t>]*\\${fence[0]}{${fence.length},}[ \\t]*$`, 'gm')
  closing.lastIndex = from
  return closing.exec(text) ? closing.lastIndex : text.length
}

/** Runs of backticks in one paragraph by length: a run is closed by the next one of the same length. */
class CodeRuns {
  /** End of the paragraph. */
  readonly end: number
  readonly #ends = new Map<number, number[]>()

  constructor(text: string, from: number) {
    const blank = /\n[ \t>]*\n/g
    blank.lastIndex = from
    this.end = blank.exec(text)?.index ?? text.length
    const ticks = /`+/g
    ticks.lastIndex = from
    for (let run = ticks.exec(text); run && run.index < this.end; run = ticks.exec(text)) {
      const ends = this.#ends.get(run[0].length)
      if (ends) ends.push(ticks.lastIndex)
      else this.#ends.set(run[0].length, [ticks.lastIndex])
    }
    for (const ends of this.#ends.values()) ends.reverse()
  }

  /** Returns the end of the next run of a length after `after`, which must not decrease between calls. */
  closing(length: number, after: number): number | undefined {
    const ends = this.#ends.get(length) ?? []
    while (ends.length > 0 && ends.at(-1)! <= after) ends.pop()
    return ends.at(-1)
  }
}

function destinationAt(text: string, start: number): Destination | undefined {
  if (text[start] === '<') {
    bracketed.lastIndex = start
    const [whole, address = ''] = bracketed.exec(text) ?? []
    return whole === undefined ? undefined : { start, end: start + whole.length, url: unescaped(address) }
  }
  let open = 0
  let end = start
  for (; end < text.length; end++) {
    const char = text.charAt(end)
    if (char === '\\') end++
    else if (char <= ' ' || (char === ')' && open === 0)) break
    else if (char === '(') open++
    else if (char === ')') open--
  }
  return end === start ? undefined : { start, end, url: unescaped(text.slice(start, end)) }
}

const bracketed = /<([^<>\n]*)>/y

const unescaped = (address: string): string => address.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1').replaceAll('&amp;', '&')
