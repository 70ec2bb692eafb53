/** Pages read in threads, so that this one is free to fetch, to choose and to write. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { type TaskWish, ThreadPool } from '../../core/process/thread-pool.ts'
import type { Reading, ReadingTask, UnreadPage } from './reading.ts'

export class ReadingThreads {
  readonly #pool: ThreadPool<ReadingTask, Reading>

  private constructor(program: string, cores: number) {
    const { threads, ...bounds } = limits.reading
    this.#pool = new ThreadPool({ ...bounds, program, threads: Math.min(threads, cores - 1) })
    this.#pool.start()
  }

  /** Undefined on a machine with one core, and for a program that is not built. */
  static open(): ReadingThreads | undefined {
    const program = join(import.meta.dirname, 'reading-worker.mjs')
    const cores = availableParallelism()
    return cores > 1 && existsSync(program) ? new ReadingThreads(program, cores) : undefined
  }

  /**
   * What the page says, as `readPage` has it.
   * @throws BaxError `content_too_large` for a page that takes more memory than a thread has, `timeout` for one that
   * takes longer than any page; the reason of `signal`
   */
  read(task: Omit<ReadingTask, 'page'> & { page: UnreadPage }, wish: TaskWish): Promise<Reading> {
    const { headers, source, ...page } = task.page
    // A part of a larger piece of memory would be sent with all of it.
    const own = 'bytes' in source ? { bytes: new Uint8Array(source.bytes) } : source
    return this.#pool.run({ ...task, page: { ...page, headers: headers.pairs(), source: own } }, wish)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
