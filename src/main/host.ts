/** The process that runs a command or the library, and the files of its build. */
import { join } from 'node:path'
import type { Io } from '../cli/io.ts'

/** @param folder folder of the build */
export const hostOf = (folder: string) =>
  ({
    pid: process.pid,
    uid: process.getuid?.(),
    platform: process.platform,
    nodeVersion: process.version,
    manifest: join(folder, 'manifest.json'),
    self: [process.execPath, join(folder, 'main.js')],
  }) satisfies Io['host']
