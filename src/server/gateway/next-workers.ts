/** Chooses workers for work that any of them can do; in advance while requests follow each other, to save the wait. */
import type { Directory, WorkerLabel, WorkerRecord } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'

interface Choice {
  readonly worker: Promise<WorkerRecord | undefined>
  /** On the monotonic clock. */
  readonly at: number
}

export class NextWorkers {
  readonly #directory: Pick<Directory, 'leastLoaded'>
  readonly #next = new Map<WorkerLabel, Choice>()
  /** When the last request was given a worker, on the monotonic clock. */
  readonly #takenAt = new Map<WorkerLabel, number>()

  constructor(directory: Pick<Directory, 'leastLoaded'>) {
    this.#directory = directory
  }

  /**
   * Returns the least loaded worker: the one that was chosen while the previous request ran, if that was just now. It may
   * drain or be lost since then, as any worker may be when the request arrives.
   */
  async take(label: WorkerLabel): Promise<WorkerRecord | undefined> {
    const now = performance.now()
    const isRecent = (at = -Infinity) => now - at < limits.gateway.chosenMs
    const next = this.#next.get(label)
    this.#next.delete(label)
    // A choice counts as load of the worker, so one is only made if it will probably be used.
    if (isRecent(this.#takenAt.get(label))) setImmediate(() => this.#prepare(label))
    this.#takenAt.set(label, now)
    const ready = isRecent(next?.at) ? await next?.worker : undefined
    return ready ?? this.#directory.leastLoaded(label)
  }

  #prepare(label: WorkerLabel): void {
    if (this.#next.has(label)) return
    // If the choice fails, the next request asks again.
    const worker = this.#directory.leastLoaded(label).catch(() => undefined)
    this.#next.set(label, { worker, at: performance.now() })
  }
}
