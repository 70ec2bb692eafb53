/** Reads pages in worker threads, so that the main thread is free for other work. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { ThreadPool } from '../../core/process/thread-pool.ts'
import type { Reading, ReadingTask, UnreadPage } from './reading.ts'

export type ReadingWorkers = ThreadPool<ReadingTask, Reading>

/** Starts threads; returns undefined on a machine with one core, and when the worker program has not been built. */
export function openReadingWorkers(): ReadingWorkers | undefined {
  const program = join(import.meta.dirname, 'reading-worker.mjs')
  const cores = availableParallelism()
  if (cores < 2 || !existsSync(program)) return undefined
  const { threads, ...bounds } = limits.reading
  const pool: ReadingWorkers = new ThreadPool({ ...bounds, program, threads: Math.min(threads, cores - 1) })
  pool.start()
  return pool
}

/** Returns a page as plain data for a thread. */
export function asPlain({ headers, source, ...page }: UnreadPage): ReadingTask['page'] {
  // Copy the bytes: a view of a larger buffer would be sent with the whole buffer.
  const own = 'bytes' in source ? { bytes: new Uint8Array(source.bytes) } : source
  return { ...page, headers: headers.pairs(), source: own }
}
