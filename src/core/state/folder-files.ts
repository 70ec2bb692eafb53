/** Files of a folder, for its upload. */
import { lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BaxError } from '../errors/errors.ts'
import { systemReason } from '../errors/system-errors.ts'
import { limits } from '../limits/limits.ts'

interface FolderFile {
  /** Absolute path. */
  readonly path: string
  /** Path from the folder on, with its name: `photos/2026/beach.jpg`. */
  readonly name: string
  readonly size: number
}

/**
 * Lists the files below a folder, hidden ones too. Links are refused: they could lead out of it, and browsers skip them.
 * @throws BaxError with the given code
 */
export function filesBelow(folder: string, code: 'invalid_request' | 'invalid_data'): FolderFile[] {
  const refuse = (message: string, hint?: string) => new BaxError(code, message, hint === undefined ? {} : { hint })
  // Fails for names that are not UTF-8, and for files that were deleted meanwhile.
  const read = <T>(path: string, call: (path: string) => T): T => {
    try {
      return call(path)
    } catch (error) {
      throw refuse(`cannot read ${path}: ${systemReason(error)}`)
    }
  }
  const found: FolderFile[] = []
  let seen = 0
  const visit = (path: string, name: string) => {
    for (const entry of read(path, (at) => readdirSync(at, { withFileTypes: true }))) {
      if (++seen > limits.session.files)
        throw refuse(`${folder} has more than ${limits.session.files} files and folders`)
      const inner = { path: join(path, entry.name), name: `${name}/${entry.name}` }
      if (entry.isDirectory()) visit(inner.path, inner.name)
      else if (entry.isFile()) found.push({ ...inner, size: read(inner.path, (at) => lstatSync(at).size) })
      else if (entry.isSymbolicLink())
        throw refuse(`${inner.path} is a symbolic link, which is not uploaded`, 'copy the folder with "cp -rL" first')
      else throw refuse(`${inner.path} is not a file`)
    }
  }
  visit(folder, basename(folder))
  if (found.length === 0) throw refuse(`${folder} is a folder without files`)
  return found
}
