/** Pages read in threads, so that this one is free to fetch, to choose and to write. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { ThreadPool } from '../../core/thread-pool.ts'
import type { FetchedPage } from '../render/fetch.ts'
import type { ScrapePlan } from './plan.ts'
import type { Reading, ReadingTask, WriteWish } from './reading.ts'

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

  /** What the HTML says, as `readHtml` has it. */
  read({ plan, fetched, write }: { plan: ScrapePlan; fetched: FetchedPage; write: WriteWish }): Promise<Reading> {
    const { headers, bytes, ...rest } = fetched
    // A part of a larger piece of memory would be sent with all of it.
    return this.#pool.run({ plan, fetched: { ...rest, headers: headers.pairs(), bytes: new Uint8Array(bytes) }, write })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
