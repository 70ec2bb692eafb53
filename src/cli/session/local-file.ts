/** Files of this machine that commands upload. */
import { createReadStream, type Stats, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'
import type { Io } from '../io.ts'
import { withByteCount } from '../output/progress.ts'

export interface LocalFile {
  /** Absolute path. */
  readonly path: string
  readonly name: string
  readonly size: number
}

/** Finds a file. @throws BaxError `invalid_request` if it is not a readable file */
export function localFile(cwd: string, given: string): LocalFile {
  const path = resolve(cwd, given)
  let stats: Stats
  try {
    stats = statSync(path)
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read ${path}: ${systemReason(cause)}`, { cause })
  }
  if (stats.isFile()) return { path, name: basename(path), size: stats.size }
  throw new BaxError('invalid_request', `${path} is not a file`)
}

/** Reads a file, with progress on the terminal. */
export const bytesOf = (io: Io, { path, name, size }: LocalFile): AsyncIterable<Uint8Array> =>
  withByteCount(io, name, createReadStream(path) as AsyncIterable<Uint8Array>, size)
