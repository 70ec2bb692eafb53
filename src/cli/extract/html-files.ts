/** The HTML that a command line names: files, folders of files, standard input. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'

export interface HtmlFile {
  /** As it was named. */
  readonly name: string
  /** Absent for standard input, which is read once. */
  readonly path?: string
  /** Where its page comes from, if somebody has written it down. */
  readonly url?: string
  read?(): Promise<Uint8Array>
}

/** @throws BaxError `invalid_request` for what is not there. */
export function htmlFilesOf(io: Io, words: readonly string[]): HtmlFile[] {
  if (words.length === 0 && io.stdin.isTTY) {
    throw new BaxError('invalid_request', '<file> is missing', {
      hint: 'usage: bax extract <file…>, or HTML on standard input',
    })
  }
  return (words.length === 0 ? ['-'] : words).flatMap((word) => {
    if (word === '-') return [{ name: '-', read: () => readInput(io) }]
    const path = resolve(io.cwd, word)
    if (!isFolder(path)) return [fileAt(word, path)]
    const names = readdirSync(path).filter((name) => /\.x?html?$/i.test(name))
    if (names.length === 0) throw new BaxError('invalid_request', `${word} has no HTML files`)
    return names.toSorted().map((name) => fileAt(join(word, name), join(path, name)))
  })
}

/**
 * A folder with a `urls.json` (key to address) and the name of a JSON file to write: many pages in one call, each under
 * its key. Undefined when that is not what was typed.
 */
export function readBatch(io: Io, words: readonly string[]): { files: HtmlFile[]; output: string } | undefined {
  const [folder, output] = words
  if (words.length !== 2 || !/\.json$/i.test(output!)) return undefined
  const list = resolve(io.cwd, folder!, 'urls.json')
  if (!existsSync(list)) return undefined
  let urls: Record<string, string>
  try {
    urls = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>
  } catch (cause) {
    throw new BaxError('invalid_request', `${list} is not JSON`, { cause })
  }
  const files = Object.entries(urls).map(([key, url]) => ({
    ...fileAt(key, resolve(io.cwd, folder!, `${key}.html`)),
    url,
  }))
  return { files, output: output! }
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

const fileAt = (name: string, path: string): HtmlFile => ({ name, path })

async function readInput({ stdin }: Io): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
