/** Creating folders. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its parents; returns whether it is new. The recursive mkdir of Node 20 never returns in places such
 * as /proc, in a folder that has been removed, and for a link that leads nowhere; and it reports a read-only file system as
 * ENOENT (https://github.com/nodejs/node/issues/47098).
 */
export function makeFolders(path: string, mode = 0o777): boolean {
  if (isFolder(path)) return false
  const parent = dirname(path)
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    // Another process may have created it.
    if (isFolder(path)) return false
    const needsParent = (error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== path && !isFolder(parent)
    if (!needsParent) throw error
    makeFolders(parent, mode)
    return makeFolders(path, mode)
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
