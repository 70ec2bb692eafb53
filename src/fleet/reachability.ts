/** Which workers the gateway reaches. Each one is asked at most once per heartbeat, however many watch the fleet. */
import type { WorkerRecord } from '../core/fleet.ts'
import { limits } from '../core/limits/limits.ts'

/** Returns why a worker cannot be reached; null if it responds. */
export type WhyUnreachable = (worker: WorkerRecord) => Promise<string | null>

interface Verdict {
  readonly reason: Promise<string | null>
  /** Time of the request on the monotonic clock. */
  readonly at: number
}

export class Reachability {
  readonly #ask: WhyUnreachable
  /** Verdicts by ID of the worker. */
  #verdicts = new Map<string, Verdict>()

  constructor(ask: WhyUnreachable) {
    this.#ask = ask
  }

  /** Returns the reason for each worker, and forgets other workers. */
  of(workers: readonly WorkerRecord[]): Promise<(string | null)[]> {
    const now = performance.now()
    const isRecent = ({ at }: Verdict) => now - at < limits.fleet.heartbeatMs
    const known = this.#verdicts
    this.#verdicts = new Map(
      workers.map((worker) => {
        const verdict = known.get(worker.id)
        return [worker.id, verdict && isRecent(verdict) ? verdict : { reason: this.#ask(worker), at: now }]
      }),
    )
    return Promise.all([...this.#verdicts.values()].map(({ reason }) => reason))
  }
}
