/** Logs in files. */
import { writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { moveAside } from '../../../core/state/state-file.ts'
import type { CrawlLog, OpenLog } from './log.ts'

/** Returns the log in the file at `path`. */
export const fileLog = (path: string): CrawlLog => ({
  create: async () => openLog(await open(path, 'wx+', 0o600)),
  reopen: async (bytes) => {
    const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EISDIR') moveAside(path)
      else if (error.code !== 'ENOENT') throw error
      return open(path, 'wx+', 0o600)
    })
    await file.truncate(bytes)
    return openLog(file)
  },
  open: async () => openLog(await open(path, 'r')),
})

const openLog = (file: FileHandle): OpenLog => ({
  append: (bytes, at) => appendTo(file, bytes, at),
  read: async (at, length) => {
    const space = Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(space, 0, length, at)
    return space.subarray(0, bytesRead)
  },
  close: () => file.close(),
})

/** Appends synchronously: copying some kilobytes to the page cache takes a tenth of the time of the thread pool. */
function appendTo({ fd }: FileHandle, bytes: Buffer, at: number): void {
  // A write may be partial.
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, at + done)
}
