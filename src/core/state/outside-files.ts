/** Reads files from untrusted folders, such as a checkout, without following links out of them or reading devices. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { succeeds } from '../succeeds.ts'

/**
 * Reads a regular file. Rejects devices and pipes, which may block or never end.
 * @throws Error of the file system, or one with the reason as its message
 */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  // Opening a pipe would otherwise wait for its writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const info = fstatSync(file)
    if (info.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' })
    if (!info.isFile()) throw new Error('it is not a regular file')
    if (info.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 ** 2} MiB`)
    // Read at most the reported size: files in /proc and /sys can be endless, and report none.
    const content = Buffer.alloc(info.size)
    let length = 0
    for (let read = -1; read !== 0 && length < content.length; length += read)
      read = readSync(file, content, length, content.length - length, null)
    return content.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Returns whether a path is in a folder, or the folder itself, after following links. Its last parts may be missing. */
export async function isInside(folder: string, path: string): Promise<boolean> {
  const [root, real] = await Promise.all([realPathOf(folder), realPathOf(path)])
  if (root === undefined || real === undefined) return false
  const inside = relative(root, real)
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)
}

/** Returns the path without links; undefined if one leads nowhere. */
async function realPathOf(path: string): Promise<string | undefined> {
  const missing: string[] = []
  for (let existing = resolve(path); ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      const isLink = await succeeds(lstat(existing))
      // A drive of Windows may be missing, too.
      if (isLink || dirname(existing) === existing) return undefined
      missing.unshift(basename(existing))
    }
  }
}
