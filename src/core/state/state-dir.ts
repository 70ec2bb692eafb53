/** The private folder for bax's state, and the lock on it that one local engine holds. */
import { createHash, randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { asBaxError, BaxError } from '../errors/errors.ts'
import { createAtomic } from './files.ts'
import { makeFolders } from './folders.ts'
import { localFiles } from './local-files.ts'
import { lockName, type LockName } from '../process/process-lock.ts'
import { readStateText, UnusableFile } from './state-file.ts'
import { textKinds } from './state-kinds.ts'

/** Facts of the process that determine the type of its lock. */
export interface LockHost {
  readonly platform: NodeJS.Platform
  readonly nodeVersion: string
}

/**
 * Creates the folder, or makes an existing one private.
 * @throws BaxError `engine_failed` or `no_space` that names the folder.
 */
export async function openStateDir(path: string): Promise<void> {
  try {
    makeFolders(path, 0o700)
    const found = await stat(path)
    if (!found.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
    const { mode } = found
    if (mode & 0o1000) throw new BaxError('engine_failed', `the state folder ${path} is shared by all users`, dirHint)
    if (mode & 0o077) await chmod(path, 0o700)
  } catch (error) {
    throw explainDir(error, path)
  }
}

/**
 * Returns the lock of a state folder. Its name contains a secret of the folder, so that no other user can take it.
 * @throws BaxError when the folder is not writable.
 */
export async function stateLock(path: string, { platform, nodeVersion }: LockHost): Promise<LockName> {
  try {
    const salt = lockSecret(localFiles(path).lockKey)
    // If the lock needs files, their paths must be short enough for a socket.
    const folder = Buffer.byteLength(path) > 60 ? tmpdir() : path
    return lockName(folderHash(path, salt), folder, platform, nodeVersion)
  } catch (error) {
    throw explainDir(error, path)
  }
}

/** Returns a short hash that is the same for every path of one folder. */
export const folderHash = (stateDir: string, salt = ''): string =>
  createHash('sha256').update(salt).update('\0').update(realpathSync(stateDir)).digest('hex').slice(0, 32)

const lockSecret = (file: string): string => keptSecret(file) ?? createAtomic(file, randomBytes(32).toString('hex'))

/** Returns undefined if it is missing or damaged; an engine that still holds the lock notices that by itself. */
function keptSecret(file: string): string | undefined {
  try {
    return readStateText(file, textKinds.lockKey)
  } catch (error) {
    if (error instanceof UnusableFile && error.movedTo !== undefined) return undefined
    throw error
  }
}

const dirHint = { hint: 'choose another folder with --state-dir or BAX_STATE_DIR' }

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  ENOENT: 'it cannot be created there',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links form a loop',
}

/** Explains in one sentence why a state folder cannot be used. */
export function explainDir(error: unknown, path: string): BaxError {
  const { code = '' } = error as NodeJS.ErrnoException
  if (error instanceof BaxError) return error
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new BaxError('no_space', `the disk that holds the state folder ${path} is full`, {
      cause: error,
      hint: 'free some space, or choose another folder with --state-dir or BAX_STATE_DIR',
    })
  const why = reasons[code]
  if (why)
    return new BaxError('engine_failed', `cannot use the state folder ${path}: ${why}`, { cause: error, ...dirHint })
  return asBaxError(error)
}
