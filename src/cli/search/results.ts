/** Results of a search as a list to read, on a terminal and in a pipe. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { SearchResult } from '../../core/shapes/search.ts'
import { tell } from '../output/errors.ts'
import { type Io, print } from '../io.ts'
import { type Piece, piecesOf } from '../scrape/pieces.ts'
import { styleFor } from '../output/style.ts'

/** Lines of text are easier to follow when they are no longer than this. */
const widest = 100

export async function showResults(io: Io, results: readonly SearchResult[]): Promise<void> {
  const { bold, cyan } = await styleFor(io, io.stdout)
  const indent = ' '.repeat(String(results.length).length + 2)
  for (const [at, { position, title, url, description, content }] of results.entries()) {
    if (at > 0) print(io, '')
    print(io, `${`${position}.`.padEnd(indent.length)}${bold(title || url)}`)
    print(io, `${indent}${cyan(url)}`)
    for (const line of wrapped(io, description, indent.length)) print(io, `${indent}${line}`)
    const text = content && textOf(piecesOfContent(content))
    if (text) print(io, `\n${text}`)
  }
}

/** The formats of a result's page; nothing when it could not be had. */
export const piecesOfContent = (content: NonNullable<SearchResult['content']>): Piece[] =>
  piecesOf({ success: true, data: content } satisfies ScrapeAnswer)

/** Says which pages could not be had; returns how many. */
export async function tellMissing(io: Io, results: readonly SearchResult[]): Promise<number> {
  let count = 0
  for (const { url, content } of results) {
    const { error, code } = content?.metadata ?? {}
    if (error === undefined) continue
    await tell(io, `${url}: ${error} [${code}]`)
    if (piecesOfContent(content!).length === 0) count += 1
  }
  return count
}

/** One text as it is, several as one JSON value. */
function textOf(pieces: readonly Piece[]): string {
  const texts = pieces.filter((piece) => 'text' in piece)
  if (texts.length <= 1) return texts[0]?.text.trim() ?? ''
  return JSON.stringify(Object.fromEntries(texts.map(({ format, value, text }) => [format, value ?? text])), null, 2)
}

/** Lines of words that fit a terminal; in a pipe one line. */
function wrapped({ stdout }: Io, text: string, indent: number): string[] {
  if (text === '') return []
  if (!stdout.isTTY) return [text]
  const width = Math.max(20, Math.min(stdout.columns || 80, widest) - indent)
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
