/** Crash-safe files: private folders and atomic writes. */
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders } from './folders.ts'

/** Creates a folder that only its owner may enter, with its parents. */
export async function privateDir(path: string): Promise<string> {
  makeFolders(path, 0o700)
  return path
}

/**
 * Returns the path of a temporary file next to `path`. Its name is short because that of `path` may already have the
 * maximum length, and contains the process ID so that files of killed processes can be removed.
 */
export const temporaryPath = (path: string): string =>
  join(dirname(path), `.bax-${process.pid}-${randomBytes(6).toString('hex')}.tmp`)

/** Writes a file (mode 0600) under a temporary name, flushes it, and renames it into place. */
export async function writeAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await privateDir(dirname(path))
  const temporary = temporaryPath(path)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    // Report the final path: a full disk names no file, and the temporary name is meaningless.
    throw Object.assign(error as NodeJS.ErrnoException, { path, dest: undefined })
  }
}

/**
 * Creates a file (mode 0600) unless it exists, and returns its content. The first of several processes wins, and none
 * reads a partial file.
 */
export function createAtomic(path: string, content: string): string {
  const temporary = temporaryPath(path)
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    linkSync(temporary, path)
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return readFileSync(path, 'utf8')
  } finally {
    rmSync(temporary, { force: true })
  }
}
