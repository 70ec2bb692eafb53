/** Extracts many pages in a pool of worker threads. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Io } from '../io.ts'
import { type Extracted, type ExtractTask, extractPage } from './extract-page.ts'
import { optimizeLate } from './late-optimization.ts'

/** Minimum number of pages for worker threads: fewer are done before a thread has started. */
const minPages = 32

/** Returns worker threads for many pages, or the main thread for a few, and for a program that is not built. */
export function extractorFor(count: number, { host }: Io): Pick<Threads, 'together' | 'extract' | 'close'> {
  const cores = availableParallelism()
  if (host.manifest !== undefined) optimizeLate(host.nodeVersion)
  if (count < minPages || cores < 2 || host.manifest === undefined) {
    return { together: 1, extract: extractPage, close: async () => {} }
  }
  return new Threads(join(dirname(host.manifest), 'extract-worker.mjs'), Math.min(cores, Math.floor(count / 8)))
}

class Threads {
  /** Maximum number of concurrent pages. */
  readonly together: number
  readonly #all: Worker[]
  readonly #free: Worker[]
  readonly #waiting: ((worker: Worker) => void)[] = []

  constructor(program: string, count: number) {
    this.#all = Array.from({ length: count }, () => new Worker(program))
    this.#free = [...this.#all]
    // Enough that no thread is idle while a slow page delays the output.
    this.together = count * 4
  }

  async extract(task: ExtractTask): Promise<Extracted> {
    const worker = this.#free.pop() ?? (await new Promise<Worker>((resolve) => this.#waiting.push(resolve)))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(task)
    const [extracted] = (await once(worker, 'message')) as [Extracted]
    const next = this.#waiting.shift()
    if (next) next(worker)
    else this.#free.push(worker)
    return extracted
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()))
  }
}
