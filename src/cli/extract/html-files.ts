/** HTML input of a command line: files, folders, or standard input. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { readRegularFile } from '../../core/state/outside-files.ts'
import { type Io, readStdinBytes } from '../io.ts'

export interface HtmlFile {
  /** Name on the command line. */
  readonly name: string
  /** Absent for standard input. */
  readonly path?: string
  /** URL of the page, if known. */
  readonly url?: string
  read?(): Promise<Uint8Array>
}

/** Returns the HTML files. @throws BaxError `invalid_request` if there are none */
export function htmlFilesOf(io: Io, words: readonly string[]): HtmlFile[] {
  if (words.length === 0 && io.stdin.isTTY) {
    throw new BaxError('invalid_request', '<file> is missing', {
      hint: 'run "bax extract <file…>", or pass HTML on standard input',
    })
  }
  return (words.length === 0 ? ['-'] : words).flatMap((word): HtmlFile[] => {
    if (word === '-') return [{ name: '-', read: () => readStdinBytes(io) }]
    const path = resolve(io.cwd, word)
    if (!existsSync(path) || !statSync(path).isDirectory()) return [{ name: word, path }]
    const names = readdirSync(path).filter((name) => /\.x?html?$/i.test(name) && isFile(join(path, name)))
    if (names.length === 0) throw new BaxError('invalid_request', `${word} has no HTML files`)
    return names.toSorted().map((name) => ({ name: join(word, name), path: join(path, name) }))
  })
}

/** Links in a folder may lead to devices and pipes. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/**
 * Reads a batch: a folder with a `urls.json` (URLs by key), and the JSON file to write, in which each page has its key.
 * Returns undefined for other arguments.
 */
export function readBatch(io: Io, words: readonly string[]): { files: HtmlFile[]; output: string } | undefined {
  const [folder, output] = words
  if (folder === undefined || output === undefined || words.length > 2 || !/\.json$/i.test(output)) return undefined
  const list = resolve(io.cwd, folder, 'urls.json')
  if (!existsSync(list)) return undefined
  let urls: Record<string, string>
  try {
    urls = JSON.parse(readRegularFile(list, limits.scriptBytes).toString()) as Record<string, string>
  } catch (cause) {
    const why = cause instanceof SyntaxError ? `${list} is not JSON` : `cannot read ${list}: ${systemReason(cause)}`
    throw new BaxError('invalid_request', why, { cause })
  }
  const files = Object.entries(urls).map(([name, url]) => ({
    name,
    path: resolve(io.cwd, folder!, `${name}.html`),
    url,
  }))
  return { files, output: output! }
}
