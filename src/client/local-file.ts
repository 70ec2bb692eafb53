/** Files of this machine that commands upload. */
import { createReadStream, type Stats, statSync } from 'node:fs'
import { basename, posix, resolve } from 'node:path'
import { BaxError } from '../core/errors/errors.ts'
import { systemReason } from '../core/errors/system-errors.ts'
import { filesBelow } from '../core/state/folder-files.ts'

export interface LocalFile {
  /** Absolute path. */
  readonly path: string
  readonly name: string
  /** Folder of a file that is uploaded with its folder. */
  readonly folder?: string
  readonly size: number
}

/** Finds a file. @throws BaxError `invalid_request` if it is not a readable file */
export function localFile(cwd: string, given: string): LocalFile {
  const path = resolve(cwd, given)
  const stats = statsOf(path)
  if (stats.isFile()) return { path, name: basename(path), size: stats.size }
  throw new BaxError('invalid_request', `${path} is not a file`)
}

/** Finds a file, or the files of a folder. @throws BaxError `invalid_request` */
export function localFiles(cwd: string, given: string): LocalFile[] {
  const path = resolve(cwd, given)
  if (!statsOf(path).isDirectory()) return [localFile(cwd, given)]
  return filesBelow(path, 'invalid_request').map(({ name, ...file }) => ({
    ...file,
    name: posix.basename(name),
    folder: posix.dirname(name),
  }))
}

/** Reads a file. @throws BaxError `invalid_request` */
export async function* readLocalFile({ path }: Pick<LocalFile, 'path'>): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

function statsOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, cause: unknown): BaxError =>
  new BaxError('invalid_request', `cannot read ${path}: ${systemReason(cause)}`, { cause })
