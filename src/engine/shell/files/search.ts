/** Searches the files below a directory by name and content. */
import { isUtf8 } from 'node:buffer'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SearchInput, SearchOutput } from '../../../core/shapes/shell/files.ts'
import { ContainerError } from '../container.ts'
import type { ContainerFiles, WalkEntry } from '../container-files.ts'
import { shownPath } from '../names.ts'
import { onPath } from './errors.ts'
import { below, type ResolvedPath, resolvePath } from './paths.ts'
import { globMatcher, type LineMatcher, lineMatcher } from './patterns.ts'

type Match = SearchOutput['matches'][number]

/** Number of files read concurrently. */
const concurrency = 16
/** Maximum number of entries per search. */
const maxEntries = 1_000_000

export async function searchFiles(
  files: ContainerFiles,
  input: SearchInput,
  signal: AbortSignal,
): Promise<SearchOutput> {
  const target = resolvePath(input.path, input.path_b64)
  const search = new Search(files, target, input)
  return onPath(target.shown.path, async () => {
    const { type } = await files.info(target.bytes, { follow: true })
    if (type !== 'directory')
      throw new BaxError('not_a_directory', `${JSON.stringify(target.shown.path)} is not a directory`)
    return search.run(signal, performance.now() + limits.files.timeoutMs)
  })
}

class Search {
  readonly #files: ContainerFiles
  readonly #target: ResolvedPath
  readonly #input: SearchInput
  readonly #matchesPath: (path: string) => boolean
  readonly #matchLine: LineMatcher | undefined
  readonly #matches: Match[] = []
  #scanned = 0
  #skipped = 0
  #cut = false

  constructor(files: ContainerFiles, target: ResolvedPath, input: SearchInput) {
    const { pattern, query, regex, case_sensitive: caseSensitive } = input
    this.#files = files
    this.#target = target
    this.#input = input
    this.#matchesPath = pattern === undefined ? () => true : globMatcher(pattern)
    this.#matchLine = query === undefined ? undefined : lineMatcher(query, { regex, caseSensitive })
  }

  /** Returns the matches found until `deadline`; `truncated` tells whether there may be more. */
  async run(signal: AbortSignal, deadline: number): Promise<SearchOutput> {
    const { max_results, show_hidden } = this.#input
    const walk = this.#files.walk(this.#target.bytes, { hidden: show_hidden, maxEntries, signal })
    let batch: WalkEntry[] = []
    for await (const entry of walk) {
      signal.throwIfAborted()
      this.#cut ||= entry.cut || performance.now() > deadline
      const isMatch = this.#matchesPath(Buffer.from(entry.path).toString('utf8'))
      if (!isMatch && this.#cut) break
      if (!isMatch) continue
      if (!this.#matchLine) this.#add(entry)
      else if (entry.type === 'file') batch.push(entry)
      if (batch.length === concurrency) {
        await this.#readAll(batch)
        batch = []
      }
      if (this.#cut || this.#matches.length > max_results) break
    }
    await this.#readAll(batch)
    return {
      ...this.#target.shown,
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
    return { ...shownPath(below(this.#target, path)), type, size }
  }

  async #linesOf(entry: WalkEntry): Promise<Match[]> {
    const text = await this.#textOf(entry)
    if (text === undefined) {
      this.#skipped += 1
      return []
    }
    this.#scanned += 1
    const match = this.#matchOf(entry)
    const matches: Match[] = []
    for (const [index, line] of text.split('\n').entries()) {
      const at = this.#matchLine!(line)
      if (!at) continue
      matches.push({ ...match, line: index + 1, column: lengthOf(line.slice(0, at.start)) + 1, text: cut(line, at) })
      if (matches.length > this.#input.max_results) break
    }
    return matches
  }

  /** Returns the text of a file; undefined if it is too large, binary, or does not exist. */
  async #textOf({ path, size }: WalkEntry): Promise<string | undefined> {
    const { max_file_bytes } = this.#input
    if (size > max_file_bytes) return undefined
    try {
      const { data } = await this.#files.read(below(this.#target, path), { length: max_file_bytes + 1 })
      const buffer = Buffer.from(data)
      if (buffer.length > max_file_bytes || buffer.subarray(0, 8000).includes(0)) return undefined
      // In other encodings at least the ASCII text can be found.
      return buffer.toString(isUtf8(buffer) ? 'utf8' : 'latin1')
    } catch (error) {
      if (error instanceof ContainerError) return undefined
      throw error
    }
  }
}

/** Counts code points, as users count characters. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** Returns the line without its end, or the part of a long line around the match. */
function cut(line: string, { start, end }: { start: number; end: number }): string {
  const full = line.endsWith('\r') ? line.slice(0, -1) : line
  if (full.length <= limits.files.lineChars) return full
  const from = end <= limits.files.lineChars ? 0 : Math.max(0, start - 100)
  // The cut may split a surrogate pair.
  return Buffer.from(full.slice(from, from + limits.files.lineChars)).toString()
}
