/** The load of the workers as one gateway knows it, so that most choices do not wait for Redis. */
import { createHash } from 'node:crypto'
import type { WorkerAddress, WorkerLabel } from '../../core/fleet.ts'
import type { RunScript } from './scripts/run.ts'

interface Load {
  readonly worker: WorkerAddress
  /** Busy page slots at the last heartbeat, relative to all of them. */
  readonly busy: number
  readonly pages: number
  /** Time of the last heartbeat, by the clock of Redis. */
  readonly seen: string
  /** Pages that this gateway has given to it since then, so that work spreads in the meantime. */
  given: number
}

interface View {
  readonly loads: readonly Load[]
  /** Time of the request, on the monotonic clock. */
  readonly at: number
}

/** Row of the script `loads`. */
type Row = [worker: string, busy: string, url: string, pages: string, seen: string]

export class WorkerLoads {
  readonly #run: RunScript
  readonly #build: string
  readonly #freshMs: number
  readonly #views = new Map<WorkerLabel, View>()
  readonly #pending = new Map<WorkerLabel, Promise<View>>()

  /** `freshMs` is the age from which on the loads are read again. */
  constructor(run: RunScript, build: string, freshMs: number) {
    this.#run = run
    this.#build = build
    this.#freshMs = freshMs
  }

  /** See `Directory.leastLoaded`. The worker may drain or be lost since its load was read. */
  async choose(label: WorkerLabel, except: ReadonlySet<string>, affinity?: string): Promise<WorkerAddress | undefined> {
    // Excluded workers have failed, so more may have changed.
    const known = except.size === 0 ? choice(await this.#recent(label), except, affinity) : undefined
    return known ?? choice(await this.#read(label), except, affinity)
  }

  /** Returns the loads. While requests follow each other, they are read again in the background. */
  async #recent(label: WorkerLabel): Promise<View> {
    const view = this.#views.get(label)
    const age = performance.now() - (view?.at ?? -Infinity)
    if (view && age < this.#freshMs) return view
    const next = this.#read(label)
    if (!view || age >= 2 * this.#freshMs) return next
    // If it fails, a later request reads them again, and reports the error.
    next.catch(() => {})
    return view
  }

  /** Reads the loads, once for all who wait for them. @throws BaxError `fleet_unavailable` */
  #read(label: WorkerLabel): Promise<View> {
    const pending = this.#pending.get(label)
    if (pending) return pending
    const next = this.#ask(label).finally(() => this.#pending.delete(label))
    this.#pending.set(label, next)
    return next
  }

  async #ask(label: WorkerLabel): Promise<View> {
    const at = performance.now()
    const rows = await this.#run<Row[]>('loads', this.#build, label)
    const before = new Map(this.#views.get(label)?.loads.map((load) => [load.worker.id, load]))
    const loads = rows.map(([id, busy, url, pages, seen]): Load => {
      const last = before.get(id)
      const given = last?.seen === seen ? last.given : 0
      return { worker: { id, url }, busy: Number(busy), pages: Number(pages), seen, given }
    })
    const view = { loads, at }
    this.#views.set(label, view)
    return view
  }
}

function choice({ loads }: View, except: ReadonlySet<string>, affinity?: string): WorkerAddress | undefined {
  const candidates = loads.filter(({ worker }) => !except.has(worker.id))
  const preferred = affinity !== undefined && preferredBy(affinity, candidates.filter(({ busy }) => busy < 1)) // prettier-ignore
  // Most requests with an affinity are answered from the cache of their worker, and are no load.
  if (preferred) return preferred.worker
  let least: Load | undefined
  for (const load of candidates) if (!least || shareOf(load) < shareOf(least)) least = load
  if (least) least.given += 1
  return least?.worker
}

const shareOf = ({ busy, given, pages }: Load): number => busy + given / pages

/** Returns the same worker for the same text, as long as it is among the candidates (rendezvous hashing). */
function preferredBy(affinity: string, candidates: readonly Load[]): Load | undefined {
  const hashed = candidates.map((load) => {
    const hash = createHash('sha256').update(load.worker.id).update(affinity).digest('hex')
    return { load, hash }
  })
  let first = hashed[0]
  for (const one of hashed) if (one.hash < first!.hash) first = one
  return first?.load
}
