/** Files that survive a crash: private folders and writes that are whole or not there. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder that only its owner may enter, with its parents. */
export async function privateDir(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** Writes a file (mode 0600) under a temporary name, flushes it, and renames it into place. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await privateDir(dirname(path))
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
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
    throw error
  }
}
