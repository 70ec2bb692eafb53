/** Prints the results of a search, or saves them as files. */
import { basename, join, relative, resolve } from 'node:path'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { SearchAnswer, SearchResult } from '../../core/shapes/search.ts'
import { plain } from '../../core/text/plain.ts'
import { printError } from '../output/errors.ts'
import { type Io, print } from '../io.ts'
import { nameFor, type Piece, piecesOf, textOf } from '../scrape/pieces.ts'
import type { Context } from '../context.ts'
import { styleFor } from '../output/style.ts'
import { writeOutput } from '../output/write-output.ts'

const maxWidth = 100

export async function showResults(io: Io, results: readonly SearchResult[]): Promise<void> {
  const { bold, cyan } = await styleFor(io, io.stdout)
  const indent = ' '.repeat(String(results.length).length + 2)
  for (const [at, { position, title, url, description, content }] of results.entries()) {
    if (at > 0) print(io, '')
    print(io, `${`${position}.`.padEnd(indent.length)}${bold(plain(title) || url)}`)
    print(io, `${indent}${cyan(url)}`)
    for (const line of wrapped(io, plain(description), indent.length)) print(io, `${indent}${line}`)
    const text = content && textOf(piecesOfContent(content)).trim()
    if (text) print(io, `\n${text}`)
  }
}

const piecesOfContent = (content: NonNullable<SearchResult['content']>): Piece[] =>
  piecesOf({ success: true, data: content } satisfies ScrapeAnswer)

/** Prints the errors of pages that could not be scraped; returns how many have no content. */
export async function reportMissing(io: Io, results: readonly SearchResult[]): Promise<number> {
  let count = 0
  for (const { url, content } of results) {
    const { error, code } = content?.metadata ?? {}
    if (error === undefined) continue
    await printError(io, `${url}: ${error} [${code}]`)
    if (content && piecesOfContent(content).length === 0) count += 1
  }
  return count
}

/** Wraps text to the terminal; returns one line in a pipe. */
function wrapped({ stdout }: Io, text: string, indent: number): string[] {
  if (text === '') return []
  if (!stdout.isTTY) return [text]
  const width = Math.max(20, Math.min(stdout.columns || 80, maxWidth) - indent)
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const listName = 'results.json'

/** Writes the pages and `results.json` to a folder; returns the paths relative to the working folder. */
export function saveResults({ io }: Context, output: string, { data, provider }: SearchAnswer): string[] {
  const folder = resolve(io.cwd, output)
  const list = join(folder, listName)
  const taken = new Set<string>([list])
  const results = data.map(({ content, ...result }) => {
    const files = content
      ? piecesOfContent(content).map((piece) => {
          const path = nameFor(folder, result.url, piece.extension, taken)
          writeOutput(path, 'bytes' in piece ? piece.bytes : piece.text)
          return path
        })
      : []
    const { error, code } = content?.metadata ?? {}
    return { ...result, files: files.map((path) => basename(path)), ...(error && { error, code }) }
  })
  writeOutput(list, `${JSON.stringify({ provider, results }, null, 2)}\n`)
  return [...taken].map((path) => relative(io.cwd, path))
}
