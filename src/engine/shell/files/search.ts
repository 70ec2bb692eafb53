/** Searches the files below a directory by name and by content. */
import { isUtf8 } from 'node:buffer'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SearchInput, SearchOutput } from '../../../core/shapes/shell/files.ts'
import { ContainerFault } from '../container.ts'
import type { ContainerFiles, WalkEntry } from '../container-files.ts'
import { shownPath } from '../names.ts'
import { onPath } from './faults.ts'
import { below, type Place, placeOf } from './paths.ts'
import { globMatcher, type LineMatcher, lineMatcher } from './patterns.ts'

type Match = SearchOutput['matches'][number]

/** Files that are asked for at the same time. */
const together = 16
/** Entries that one search looks at. */
const mostEntries = 1_000_000

export async function searchFiles(
  files: ContainerFiles,
  input: SearchInput,
  signal: AbortSignal,
): Promise<SearchOutput> {
  const place = placeOf(input.path, input.path_b64)
  const search = new Search(files, place, input)
  return onPath(place.shown.path, async () => {
    const { type } = await files.info(place.bytes, { follow: true })
    if (type !== 'directory')
      throw new BaxError('not_a_directory', `${JSON.stringify(place.shown.path)} is not a directory`)
    return search.run(signal, performance.now() + limits.files.timeoutMs)
  })
}

class Search {
  readonly #files: ContainerFiles
  readonly #place: Place
  readonly #input: SearchInput
  readonly #isMeant: (path: string) => boolean
  readonly #inLine: LineMatcher | undefined
  readonly #matches: Match[] = []
  #scanned = 0
  #skipped = 0
  #cut = false

  constructor(files: ContainerFiles, place: Place, input: SearchInput) {
    const { pattern, query, regex, case_sensitive: caseSensitive } = input
    this.#files = files
    this.#place = place
    this.#input = input
    this.#isMeant = pattern === undefined ? () => true : globMatcher(pattern)
    this.#inLine = query === undefined ? undefined : lineMatcher(query, { regex, caseSensitive })
  }

  /** Whatever was found by then when the time is over; the answer says that there may be more. */
  async run(signal: AbortSignal, deadline: number): Promise<SearchOutput> {
    const { max_results, show_hidden } = this.#input
    const walk = this.#files.walk(this.#place.bytes, { hidden: show_hidden, maxEntries: mostEntries, signal })
    let batch: WalkEntry[] = []
    for await (const entry of walk) {
      signal.throwIfAborted()
      this.#cut ||= entry.cut || performance.now() > deadline
      const isMeant = this.#isMeant(Buffer.from(entry.path).toString('utf8'))
      if (!isMeant && this.#cut) break
      if (!isMeant) continue
      if (!this.#inLine) this.#add(entry)
      else if (entry.type === 'file') batch.push(entry)
      if (batch.length === together) {
        await this.#readAll(batch)
        batch = []
      }
      if (this.#cut || this.#matches.length > max_results) break
    }
    await this.#readAll(batch)
    return {
      ...this.#place.shown,
      matches: this.#matches.slice(0, max_results),
      truncated: this.#cut || this.#matches.length > max_results,
      files_scanned: this.#scanned,
      files_skipped: this.#skipped,
    }
  }

  async #readAll(batch: readonly WalkEntry[]): Promise<void> {
    const found = await Promise.all(batch.map((entry) => this.#linesOf(entry)))
    for (const matches of found) this.#matches.push(...matches)
  }

  #add(entry: WalkEntry): void {
    if (entry.type === 'file') this.#scanned += 1
    this.#matches.push(this.#matchOf(entry))
  }

  #matchOf({ path, type, size }: WalkEntry): Match {
    return { ...shownPath(below(this.#place, path)), type, size }
  }

  async #linesOf(entry: WalkEntry): Promise<Match[]> {
    const text = await this.#textOf(entry)
    if (text === undefined) {
      this.#skipped += 1
      return []
    }
    this.#scanned += 1
    const about = this.#matchOf(entry)
    const matches: Match[] = []
    for (const [index, line] of text.split('\n').entries()) {
      const at = this.#inLine!(line)
      if (!at) continue
      matches.push({ ...about, line: index + 1, column: lengthOf(line.slice(0, at.start)) + 1, text: cut(line, at) })
      if (matches.length > this.#input.max_results) break
    }
    return matches
  }

  /** The text of a file; undefined for what is too large, binary or gone. */
  async #textOf({ path, size }: WalkEntry): Promise<string | undefined> {
    const { max_file_bytes } = this.#input
    if (size > max_file_bytes) return undefined
    try {
      const { data } = await this.#files.read(below(this.#place, path), { length: max_file_bytes + 1 })
      const buffer = Buffer.from(data)
      if (buffer.length > max_file_bytes || buffer.subarray(0, 8000).includes(0)) return undefined
      // Of text in another encoding the ASCII part can be found.
      return buffer.toString(isUtf8(buffer) ? 'utf8' : 'latin1')
    } catch (error) {
      if (error instanceof ContainerFault) return undefined
      throw error
    }
  }
}

/** Characters of a text, as its readers count them. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** The line without its end, or the part of a long one that holds the match. */
function cut(line: string, { start, end }: { start: number; end: number }): string {
  const whole = line.endsWith('\r') ? line.slice(0, -1) : line
  if (whole.length <= limits.files.lineChars) return whole
  const from = end <= limits.files.lineChars ? 0 : Math.max(0, start - 100)
  // A cut may go through a surrogate pair.
  return Buffer.from(whole.slice(from, from + limits.files.lineChars)).toString()
}
