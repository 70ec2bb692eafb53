/**
 * Finds where the links of a Markdown text lead. A full parser takes half a minute for the index of a manual, since its
 * time grows faster than the text; what is asked here needs only to tell links from code.
 */

/** One destination: from `start` to before `end` in the text, as it is written there. */
export interface Destination {
  readonly start: number
  readonly end: number
  /** Without the `<>` and the escapes that it is written with. */
  readonly address: string
}

// What begins at a place: a fence, an escaped character, a run of backticks, a definition, a bracket, an empty line.
const marks =
  /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?<fence>`{3,}(?=[^`\n]*$)|~{3,})|\\[^\n]|(?<code>`+)|^[ >]{0,8}\[[^\]^\n][^\]\n]*\](?<definition>:[ \t]+)|(?<open>\[)|(?<link>\]\([ \t]*)|(?<close>\])|\n[ \t>]*(?<blank>(?=\n))/gm

/** In the order of the text. */
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

/** The end of the line that closes a fence, or of the text. */
function endOfFence(text: string, fence: string, from: number): number {
  const closing = new RegExp(`^[ \\t>]*\\${fence[0]}{${fence.length},}[ \\t]*$`, 'gm')
  closing.lastIndex = from
  return closing.exec(text) ? closing.lastIndex : text.length
}

/** The runs of backticks of one paragraph by their length: a run is closed by the next one that is as long. */
class CodeRuns {
  /** Where the paragraph ends. */
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

  /** The end of the first run of that length after a place; places are asked about in their order. */
  closing(length: number, after: number): number | undefined {
    const ends = this.#ends.get(length) ?? []
    while (ends.length > 0 && ends.at(-1)! <= after) ends.pop()
    return ends.at(-1)
  }
}

function destinationAt(text: string, start: number): Destination | undefined {
  if (text[start] === '<') {
    bracketed.lastIndex = start
    const [whole, address] = bracketed.exec(text) ?? []
    return whole === undefined ? undefined : { start, end: start + whole.length, address: unescaped(address!) }
  }
  let open = 0
  let end = start
  for (; end < text.length; end++) {
    const char = text[end]!
    if (char === '\\') end++
    else if (char <= ' ' || (char === ')' && open === 0)) break
    else if (char === '(') open++
    else if (char === ')') open--
  }
  return end === start ? undefined : { start, end, address: unescaped(text.slice(start, end)) }
}

const bracketed = /<([^<>\n]*)>/y

const unescaped = (address: string): string => address.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1').replaceAll('&amp;', '&')
