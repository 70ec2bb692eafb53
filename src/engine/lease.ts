/** Leases: a session ends when the last stream of its owner has ended, however that happened. */
import type { Frame } from '../core/operation/call.ts'
import { oncePer } from '../core/once-per.ts'

interface Held {
  readonly graceSecs: number
  /** Aborted when the stream ends. */
  readonly signal: AbortSignal
  /** Aborted when the session has ended. */
  readonly ended: AbortSignal
  /** Ends the session. */
  readonly end: () => void
}

/** Returns the lease of a session. */
export const leaseOf = oncePer((_session: object) => new Lease())

class Lease {
  #streams = 0
  #timer: NodeJS.Timeout | undefined

  /** Counts a stream until its signal is aborted; returns its frames. */
  hold({ graceSecs, signal, ended, end }: Held): AsyncIterable<Frame> {
    clearTimeout(this.#timer)
    this.#streams += 1
    const release = () => {
      this.#streams -= 1
      if (this.#streams > 0 || ended.aborted) return
      if (graceSecs === 0) return end()
      this.#timer = setTimeout(end, graceSecs * 1000)
      this.#timer.unref()
    }
    if (signal.aborted) release()
    else signal.addEventListener('abort', release, { once: true })
    return framesUntil([signal, ended])
  }
}

/** Yields one frame, and ends with the stream or the session. */
async function* framesUntil(signals: readonly AbortSignal[]): AsyncGenerator<Frame> {
  yield { seq: 1, ts: new Date().toISOString(), type: 'lease.held', data: {} } as Frame
  await new Promise<void>((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    }
  })
}
