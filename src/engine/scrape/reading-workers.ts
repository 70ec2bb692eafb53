/** Reads pages in worker threads, so that the main thread is free for other work. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { type TaskOptions, ThreadPool } from '../../core/process/thread-pool.ts'
import type { Reading, ReadingTask, UnreadPage } from './reading.ts'

export class ReadingWorkers {
  readonly #pool: ThreadPool<ReadingTask, Reading>

  private constructor(program: string, cores: number) {
    const { threads, ...bounds } = limits.reading
    this.#pool = new ThreadPool({ ...bounds, program, threads: Math.min(threads, cores - 1) })
    this.#pool.start()
  }

  /** Returns undefined on a machine with one core, and when the worker program has not been built. */
  static open(): ReadingWorkers | undefined {
    const program = join(import.meta.dirname, 'reading-worker.mjs')
    const cores = availableParallelism()
    return cores > 1 && existsSync(program) ? new ReadingWorkers(program, cores) : undefined
  }

  /**
   * Runs `readPage` in a worker thread.
   * @throws BaxError `content_too_large` when the page exceeds the memory of a thread, `timeout` when it exceeds the
   * time limit of a task; the reason of `signal`
   */
  read(task: Omit<ReadingTask, 'page'> & { page: UnreadPage }, options: TaskOptions): Promise<Reading> {
    const { headers, source, ...page } = task.page
    // Copy the bytes: a view of a larger buffer would be sent with the whole buffer.
    const own = 'bytes' in source ? { bytes: new Uint8Array(source.bytes) } : source
    return this.#pool.run({ ...task, page: { ...page, headers: headers.pairs(), source: own } }, options)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
