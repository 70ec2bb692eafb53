/** Results of a search as files: their pages, and a list of them. */
import { basename, join, relative, resolve } from 'node:path'
import type { SearchAnswer } from '../../core/shapes/search.ts'
import type { Context } from '../context.ts'
import { nameFor } from '../scrape/file-names.ts'
import { writeOutput } from '../output/write-output.ts'
import { piecesOfContent } from './results.ts'

/** The list of what was found and where it was written. */
const listName = 'results.json'

/** Writes the pages and `results.json` into a folder; returns the files, as seen from the working folder. */
export function saveResults({ io }: Context, output: string, { data, provider }: SearchAnswer): string[] {
  const folder = resolve(io.cwd, output)
  const list = join(folder, listName)
  const taken = new Set<string>([list])
  const results = data.map(({ content, ...result }) => {
    const files = content ? piecesOfContent(content).map((piece) => {
      const path = nameFor(folder, result.url, piece.extension, taken)
      writeOutput(path, 'bytes' in piece ? piece.bytes : piece.text)
      return path
    }) : [] // prettier-ignore
    const { error, code } = content?.metadata ?? {}
    return { ...result, files: files.map((path) => basename(path)), ...(error && { error, code }) }
  })
  writeOutput(list, `${JSON.stringify({ provider, results }, null, 2)}\n`)
  return [...taken].map((path) => relative(io.cwd, path))
}
