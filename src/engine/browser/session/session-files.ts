/** Files that commands of a session write and upload: limited to the session's folder unless the engine allows all. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { writeAtomic } from '../../../core/state/files.ts'

/** Returns the folder for a session's downloads, below a folder that is removed with its browser. */
export const downloadFolder = (parent: string, key: string): string => join(parent, 'downloads', key)

/** File access of a session. */
interface Reach {
  readonly writeAnywhere: boolean
  /** The session's download folder. */
  readonly folder: string
}

/** Resolves a path of the caller; `what` is as in "files are written". @throws BaxError `invalid_data`. */
export function allowedPath({ writeAnywhere, folder }: Reach, path: string, what: string): string {
  if (writeAnywhere) return resolve(path)
  const target = resolve(folder, path)
  const inside = relative(folder, target)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new BaxError('invalid_data', `${what} below the session's download folder only, not at ${path}`, {
      hint: 'use a relative path',
    })
  }
  return target
}

/** Reasons why a path cannot name a file, by error code. */
const impossible: Record<string, string> = {
  ERR_INVALID_ARG_VALUE: 'a path must not contain a NUL character',
  ENAMETOOLONG: 'the path, or a name in it, is too long',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a part of the path is a file, not a folder',
  EISDIR: 'a folder with that name exists',
}

/** Writes a file at a path of the caller; returns the absolute path. @throws BaxError `invalid_data`. */
export async function saveFile(reach: Reach, path: string, bytes: Uint8Array): Promise<string> {
  const target = allowedPath(reach, path, 'files are written')
  try {
    await writeAtomic(target, bytes)
  } catch (error) {
    const why = impossible[(error as NodeJS.ErrnoException).code ?? '']
    if (why === undefined) throw error
    throw new BaxError('invalid_data', `cannot save a file at ${path}: ${why}`, { cause: error })
  }
  return target
}
