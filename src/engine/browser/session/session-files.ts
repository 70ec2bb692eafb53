/** Files that commands of a session write and upload: where an engine serves strangers, in a folder of its own only. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { writeWhole } from '../../../core/state/files.ts'

/** Where downloads of a session go, below a folder that ends with its browser. */
export const downloadFolder = (parent: string, key: string): string => join(parent, 'downloads', key)

/** What a session may touch. */
interface Reach {
  readonly writeAnywhere: boolean
  /** Its own folder. */
  readonly folder: string
}

/** The file that a path of the caller's means; `what` is as in "files are written". @throws BaxError `invalid_data`. */
export function allowedPath({ writeAnywhere, folder }: Reach, path: string, what: string): string {
  if (writeAnywhere) return resolve(path)
  const target = resolve(folder, path)
  const inside = relative(folder, target)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new BaxError('invalid_data', `${what} below the session's download folder only, not at ${path}`, {
      hint: 'give a relative path',
    })
  }
  return target
}

/** Why a path can be that of no file, whatever the disk. */
const impossible: Record<string, string> = {
  ERR_INVALID_ARG_VALUE: 'a path must not hold a NUL character',
  ENAMETOOLONG: 'the path, or a name in it, is too long',
  ENOTDIR: 'a file is in the way of a folder',
  EEXIST: 'a file is in the way of a folder',
  EISDIR: 'there is a folder of that name',
}

/** Writes a file where a path of the caller's says; gives its absolute path. @throws BaxError `invalid_data`. */
export async function saveFile(reach: Reach, path: string, bytes: Uint8Array): Promise<string> {
  const target = allowedPath(reach, path, 'files are written')
  try {
    await writeWhole(target, bytes)
  } catch (error) {
    const why = impossible[(error as NodeJS.ErrnoException).code ?? '']
    if (why === undefined) throw error
    throw new BaxError('invalid_data', `nothing can be saved there: ${why}`, { cause: error })
  }
  return target
}
