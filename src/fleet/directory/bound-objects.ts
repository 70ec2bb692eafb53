/** The objects of one registration of a worker. */
import { BaxError } from '../../core/errors/errors.ts'
import type { BoundObject, BoundObjects } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { nameError } from './directory.ts'
import { storedOwner } from './records.ts'
import type { RunScript } from './scripts/run.ts'

type Bindable = Omit<BoundObject, 'worker' | 'lost_at'>

export class HeldObjects implements BoundObjects {
  readonly #run: RunScript
  readonly #worker: BoundObject['worker']
  readonly #held = new Map<string, Bindable>()
  #isLost = false

  constructor(run: RunScript, worker: BoundObject['worker']) {
    this.#run = run
    this.#worker = worker
  }

  get count(): number {
    return this.#held.size
  }

  /** Rejects further objects: the registration has ended. */
  lose(): void {
    this.#isLost = true
  }

  async bind(object: Bindable, reservation = ''): Promise<void> {
    if (this.#isLost) throw lostError()
    this.#held.set(object.id, object)
    try {
      await this.#send(object, reservation)
      if (this.#isLost) throw lostError()
    } catch (error) {
      // Redis may have bound it without its answer having arrived.
      void this.end(object.id, 0).catch(() => {})
      throw error
    }
  }

  async end(id: string, keptMs: number): Promise<void> {
    const object = this.#held.get(id)
    this.#held.delete(id)
    const facts = object ? [this.#worker.url, ...factsOf(object)] : []
    await this.#run('end', this.#worker.id, id, keptMs, ...facts)
  }

  /** Corrects what Redis lists for this worker: it may have lost its last second of writes. */
  async restore(listed: readonly string[]): Promise<void> {
    for (const id of listed) if (!this.#held.has(id)) await this.end(id, limits.fleet.lostMs)
    const known = new Set(listed)
    for (const object of this.#held.values()) if (!known.has(object.id)) await this.#send(object, '')
  }

  /** @throws BaxError `conflict`, `worker_lost`, `fleet_unavailable` */
  async #send(object: Bindable, reservation: string): Promise<void> {
    const { id: worker, url } = this.#worker
    const { id, kind, name } = object
    const answer = await this.#run<string>('bind', worker, url, id, ...factsOf(object), reservation)
    if (answer === 'lost') throw lostError()
    if (answer === 'conflict') throw nameError(kind, name ?? id)
  }
}

/** Returns the kind, the owner and the name, as scripts read them. */
const factsOf = ({ kind, owner, name }: Bindable): string[] => [
  kind,
  storedOwner(owner),
  name === null ? '' : '1',
  name ?? '',
]

const lostError = (): BaxError =>
  new BaxError('worker_lost', 'this worker has lost its lease', {
    hint: 'repeat the call; another worker will serve it',
    retryAfterSecs: limits.overload.retryAfterSecs,
  })
