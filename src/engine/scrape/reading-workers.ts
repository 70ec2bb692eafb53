/** Reads pages in worker threads, so that the main thread is free for other work. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { reserveFor } from '../../core/process/fair-queue.ts'
import { ThreadPool } from '../../core/process/thread-pool.ts'
import type { Reading, ReadingTask, UnreadPage } from './reading.ts'

export type ReadingWorkers = ThreadPool<ReadingTask, Reading>

/**
 * Starts threads, as many as there are cores, or one less for large pages, so that pages built to keep threads busy leave
 * a core to others. With `patient`, the last thread waits until the main thread is idle: compiling its code takes as long
 * as reading hundreds of pages. Returns undefined on a machine with one core, and when the worker program has not been built.
 */
export function openReadingWorkers({
  large,
  patient,
}: {
  large: boolean
  patient: boolean
}): ReadingWorkers | undefined {
  const program = join(import.meta.dirname, 'reading-worker.mjs')
  const cores = availableParallelism()
  if (cores < 2 || !existsSync(program)) return undefined
  const { threads, heapMb, largeHeapMb, longestMs, graceMs, idleMs, grown, patienceMs } = limits.reading
  const most = Math.min(threads, large ? cores - 1 : cores)
  const pool: ReadingWorkers = new ThreadPool({
    program,
    longestMs,
    graceMs,
    idleMs,
    grown,
    threads: most,
    heapMb: large ? largeHeapMb : heapMb,
    // A large page may take long, so that others do not wait behind it.
    ...(large && { tasksPerThread: 1, reserve: reserveFor(most) }),
    ...(patient && !large && cores <= threads && { patienceMs }),
  })
  pool.start()
  return pool
}

/** Returns a page as plain data for a thread. */
export function asPlain({ headers, source, ...page }: UnreadPage): ReadingTask['page'] {
  return { ...page, headers: headers.pairs(), source: 'bytes' in source ? { bytes: ownBytes(source.bytes) } : source }
}

/** Copies a view of a larger buffer, which would be sent with the whole buffer. */
const ownBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength < bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes
