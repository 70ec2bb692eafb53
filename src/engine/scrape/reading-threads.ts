/** Pages read in threads, so that this one is free to fetch, to choose and to write. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { ThreadPool } from '../../core/thread-pool.ts'
import { BaxError } from '../../core/errors.ts'
import type { Reading, ReadingTask, UnreadPage } from './reading.ts'

export class ReadingThreads {
  readonly #pool: ThreadPool<ReadingTask, Reading>

  private constructor(program: string, cores: number) {
    const { threads, heapMb, idleMs } = limits.reading
    this.#pool = new ThreadPool({ program, threads: Math.min(threads, cores - 1), heapMb, idleMs })
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
   * @throws BaxError `content_too_large` for a page over which threads run out of memory; the reason of `signal`
   */
  async read(task: Omit<ReadingTask, 'page'> & { page: UnreadPage }, signal: AbortSignal): Promise<Reading> {
    const { headers, source, ...page } = task.page
    // A part of a larger piece of memory would be sent with all of it.
    const own = 'bytes' in source ? { bytes: new Uint8Array(source.bytes) } : source
    try {
      return await this.#pool.run({ ...task, page: { ...page, headers: headers.pairs(), source: own } }, signal)
    } catch (error) {
      throw isFull(error) ? new BaxError('content_too_large', 'the page takes more memory than a page may') : error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Whether a thread broke for want of memory. */
const isFull = (error: unknown): boolean =>
  error instanceof BaxError && (error.cause as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
