/** Searches the files below a directory by name and content. */
import { isUtf8 } from 'node:buffer'
import { RE2JS } from 're2js'
import { limits } from '../../../core/limits/limits.ts'
import type { SearchInput, SearchOutput } from '../../../core/shapes/shell/files.ts'
import { compileRe2, linearGlob } from '../../linear-glob.ts'
import { ContainerError } from '../container.ts'
import type { WalkEntry } from '../container-files.ts'
import type { ContainerFiles } from '../interface.ts'
import { shownPath } from '../../name-bytes.ts'
import { folderFacts, onPath } from './errors.ts'
import type { FileWork } from './file-work.ts'
import { below, type ResolvedPath, resolvePath } from './paths.ts'

type Match = SearchOutput['matches'][number]

/** Number of files read concurrently. */
const concurrency = 16
/** Maximum number of entries per search. */
const maxEntries = 1_000_000

/** Search for files, and for lines in them if `matchLine` is set. */
interface Search {
  readonly files: ContainerFiles
  readonly target: ResolvedPath
  readonly input: SearchInput
  readonly matchesPath: (path: string) => boolean
  readonly matchLine: LineMatcher | undefined
}

export const searchFiles: FileWork<'search'> = async (files, input, { signal }) => {
  const target = resolvePath(input.path, input.path_b64)
  const { pattern, query, regex, case_sensitive: caseSensitive } = input
  const matchesPath = pattern === undefined ? () => true : globMatcher(pattern)
  const matchLine = query === undefined ? undefined : lineMatcher(query, { regex, caseSensitive })
  return onPath(target.shown.path, async () => {
    await folderFacts(files, target)
    const deadline = performance.now() + limits.files.timeoutMs
    return run({ files, target, input, matchesPath, matchLine }, signal, deadline)
  })
}

/** Returns the matches found until `deadline`; `truncated` tells whether there may be more. */
async function run(search: Search, signal: AbortSignal, deadline: number): Promise<SearchOutput> {
  const { files, target, matchesPath, matchLine } = search
  const { max_results, show_hidden } = search.input
  const matches: Match[] = []
  let scanned = 0
  let skipped = 0
  let cut = false
  let batch: WalkEntry[] = []
  const readBatch = async () => {
    for (const found of await Promise.all(batch.map((entry) => linesOf(search, entry)))) {
      if (found) scanned += 1
      else skipped += 1
      matches.push(...(found ?? []))
    }
    batch = []
  }
  for await (const entry of files.walk(target.bytes, { hidden: show_hidden, maxEntries, signal })) {
    signal.throwIfAborted()
    cut ||= entry.cut || performance.now() > deadline
    const isMatch = matchesPath(Buffer.from(entry.path).toString('utf8'))
    if (!isMatch && cut) break
    if (!isMatch) continue
    if (!matchLine) {
      if (entry.type === 'file') scanned += 1
      matches.push(matchOf(search, entry))
    } else if (entry.type === 'file') batch.push(entry)
    if (batch.length === concurrency) await readBatch()
    if (cut || matches.length > max_results) break
  }
  await readBatch()
  return {
    ...target.shown,
    matches: matches.slice(0, max_results),
    truncated: cut || matches.length > max_results,
    files_scanned: scanned,
    files_skipped: skipped,
  }
}

const matchOf = ({ target }: Search, { path, type, size }: WalkEntry): Match => ({
  ...shownPath(below(target, path)),
  type,
  size,
})

/** Returns the matching lines of a file; undefined if it is skipped. */
async function linesOf(search: Search, entry: WalkEntry): Promise<Match[] | undefined> {
  const text = await textOf(search, entry)
  if (text === undefined) return undefined
  const match = matchOf(search, entry)
  const matches: Match[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const at = search.matchLine!(line)
    if (!at) continue
    matches.push({ ...match, line: index + 1, column: lengthOf(line.slice(0, at.start)) + 1, text: cut(line, at) })
    if (matches.length > search.input.max_results) break
  }
  return matches
}

/** Returns the text of a file; undefined if it is too large, binary, or does not exist. */
async function textOf({ files, target, input }: Search, { path, size }: WalkEntry): Promise<string | undefined> {
  const { max_file_bytes } = input
  if (size > max_file_bytes) return undefined
  try {
    const { data } = await files.read(below(target, path), { length: max_file_bytes + 1 })
    const buffer = Buffer.from(data)
    if (buffer.length > max_file_bytes || buffer.subarray(0, 8000).includes(0)) return undefined
    // In other encodings at least the ASCII text can be found.
    return buffer.toString(isUtf8(buffer) ? 'utf8' : 'latin1')
  } catch (error) {
    if (error instanceof ContainerError) return undefined
    throw error
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

/** Returns a matcher of paths below the searched folder, which never contain `..` or empty names. */
export const globMatcher = (pattern: string): ((path: string) => boolean) =>
  linearGlob(pattern, 'pattern', { posix: true })

/** Finds the first match in a line, in UTF-16 units from 0; undefined without a match. */
type LineMatcher = (line: string) => { readonly start: number; readonly end: number } | undefined

export function lineMatcher(
  query: string,
  { regex, caseSensitive }: { regex: boolean; caseSensitive: boolean },
): LineMatcher {
  if (!regex && caseSensitive) {
    return (line) => {
      const start = line.indexOf(query)
      return start === -1 ? undefined : { start, end: start + query.length }
    }
  }
  const source = regex ? query : RE2JS.quote(query)
  const re = compileRe2(source, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE, 'query')
  return (line) => {
    // Most lines do not match, and `test` is cheaper.
    if (!re.test(line)) return undefined
    const matcher = re.matcher(line)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  }
}
