/** Limits concurrent work. Origins take turns, and some slots are reserved for origins with little work. */
import { Counter } from '../access/quota.ts'
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { withDeadline } from './deadline.ts'
import { type Origin, Turns, type WorkOptions } from './turns.ts'

export interface FairQueueOptions {
  readonly atOnce: number
  /** Further slots for origins that have fewer than this, so that one that has all others does not delay them. */
  readonly reserve: number
}

/** Returns the number of slots to reserve for origins with little work. */
export const reserveFor = (atOnce: number): number => Math.max(1, Math.floor(atOnce * limits.overload.partOfKey))

/** Whether an origin may have another slot, given the slots that it and all origins have. */
export const mayHaveSlot = ({ atOnce, reserve }: FairQueueOptions, own: number, all: number): boolean =>
  all < atOnce || (own < reserve && all < atOnce + reserve)

interface Entry {
  readonly from: Origin
  readonly start: (release: () => void) => void
  readonly reject: (error: Error) => void
}

export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #turns = new Turns<Entry>()
  readonly #running = new Counter<Origin>()

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#turns.size
  }

  get running(): number {
    return this.#running.total
  }

  /** Runs the work when it has a slot. @throws the reason of the signal while it waits, and the errors of the work */
  async run<T>(work: () => Promise<T>, { from = null, signal }: WorkOptions = {}): Promise<T> {
    signal?.throwIfAborted()
    const release = await this.#enter(from, signal)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Rejects all work that waits. */
  close(): void {
    for (const { reject } of this.#turns.clear()) reject(new BaxError('shutting_down', 'the engine is shutting down'))
  }

  async #enter(from: Origin, signal: AbortSignal | undefined): Promise<() => void> {
    let entry!: Entry
    const slot = new Promise<() => void>((start, reject) => (entry = { from, start, reject }))
    this.#turns.add(entry, from)
    this.#serve()
    try {
      return await withDeadline(slot, { ...(signal && { signal }) })
    } catch (error) {
      // Release a slot that was granted at the same moment.
      if (!this.#turns.remove(entry))
        slot.then(
          (release) => release(),
          () => {},
        )
      throw error
    }
  }

  #serve(): void {
    const mayHave = (from: Origin) => mayHaveSlot(this.#options, this.#running.of(from), this.#running.total)
    for (let entry = this.#turns.take(mayHave); entry; entry = this.#turns.take(mayHave)) {
      const release = this.#running.take(entry.from)
      entry.start(() => {
        release()
        this.#serve()
      })
    }
  }
}
