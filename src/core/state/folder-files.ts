/** Files of a folder, for its upload. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
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
  const found: FolderFile[] = []
  let seen = 0
  const visit = (path: string, name: string) => {
    for (const entry of entriesOf(path, refuse)) {
      if (++seen > limits.session.files)
        throw refuse(`${folder} has more than ${limits.session.files} files and folders`)
      const inner = { path: join(path, entry.name), name: `${name}/${entry.name}` }
      if (entry.isDirectory()) visit(inner.path, inner.name)
      else if (entry.isFile()) found.push({ ...inner, size: lstatSync(inner.path).size })
      else if (entry.isSymbolicLink())
        throw refuse(`${inner.path} is a symbolic link, which is not uploaded`, 'copy the folder with "cp -rL" first')
      else throw refuse(`${inner.path} is not a file`)
    }
  }
  visit(folder, basename(folder))
  if (found.length === 0) throw refuse(`${folder} is a folder without files`)
  return found
}

function entriesOf(path: string, refuse: (message: string) => BaxError): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    throw refuse(`cannot read ${path}: ${systemReason(error as Error)}`)
  }
}
