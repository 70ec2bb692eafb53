/** Measures the processes of browsers in a worker thread: on a busy machine, reading `/proc` can take most of a second. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../../core/limits/limits.ts'
import { ThreadPool } from '../../../core/process/thread-pool.ts'
import { type Measurement, ProcessTable } from './process-table.ts'

export type Measure = (sessions: ReadonlySet<number>) => Promise<Measurement>

/** Returns a function that measures the processes of sessions, in this thread if the worker program is not built. */
export function measuring(): Measure {
  const program = join(import.meta.dirname, 'measuring-worker.mjs')
  if (!existsSync(program)) {
    const table = new ProcessTable()
    return async (sessions) => table.measure(sessions)
  }
  const { heapMb, idleMs } = limits.browserShares
  const threads = new ThreadPool<ReadonlySet<number>, Measurement>({ program, threads: 1, heapMb, idleMs })
  return (sessions) => threads.run(sessions)
}
