/** The load of the workers as one gateway knows it, so that most choices do not wait for Redis. */
import { createHash } from 'node:crypto'
import type { ChosenWorker, WorkerAddress, WorkerLabel } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { RunScript } from './scripts/run.ts'

interface Load {
  readonly worker: WorkerAddress
  /** Busy page slots at the last heartbeat, relative to all of them. */
  readonly busy: number
  readonly pages: number
  readonly own: OwnRequests
}

/** Requests of this gateway to a worker: heartbeats are too rare to spread work by. */
interface OwnRequests {
  /** Number of requests that are running. */
  running: number
  /** Number of the last one, which is higher for later ones. */
  last: number
  /** Weight of failed ones at a time on the monotonic clock; it halves every `limits.gateway.penaltyMs`. */
  failed: { readonly penalty: number; readonly at: number }
}

interface View {
  readonly loads: readonly Load[]
  /** Time of the request, on the monotonic clock. */
  readonly at: number
}

/** Row of the script `loads`. */
type Row = [worker: string, busy: string, url: string, pages: string]

export class WorkerLoads {
  readonly #run: RunScript
  readonly #build: string
  readonly #freshMs: number
  readonly #views = new Map<WorkerLabel, View>()
  readonly #pending = new Map<WorkerLabel, Promise<View>>()
  #count = 0

  /** `freshMs` is the age from which on the loads are read again. */
  constructor(run: RunScript, build: string, freshMs: number) {
    this.#run = run
    this.#build = build
    this.#freshMs = freshMs
  }

  /** See `Directory.leastLoaded`. The worker may drain or be lost since its load was read. */
  async choose(label: WorkerLabel, except: ReadonlySet<string>, affinity?: string): Promise<ChosenWorker | undefined> {
    // Excluded workers have failed, so more may have changed.
    const known = except.size === 0 ? choice(await this.#recent(label), except, affinity) : undefined
    const chosen = known ?? choice(await this.#read(label), except, affinity)
    if (!chosen) return undefined
    const { worker, own } = chosen
    own.running += 1
    own.last = ++this.#count
    return {
      worker,
      done(isFailure) {
        own.running -= 1
        if (isFailure) own.failed = { penalty: penaltyOf(own) + 1, at: performance.now() }
      },
    }
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
    const before = new Map(this.#views.get(label)?.loads.map(({ worker, own }) => [worker.id, own]))
    const loads = rows.map(([id, busy, url, pages]): Load => {
      const own = before.get(id) ?? { running: 0, last: 0, failed: { penalty: 0, at: 0 } }
      return { worker: { id, url }, busy: Number(busy), pages: Number(pages), own }
    })
    const view = { loads, at }
    this.#views.set(label, view)
    return view
  }
}

function choice({ loads }: View, except: ReadonlySet<string>, affinity?: string): Load | undefined {
  const candidates = loads.filter(({ worker }) => !except.has(worker.id))
  const isFree = ({ busy, own, pages }: Load) => busy < 1 && own.running < pages && penaltyOf(own) < 0.5
  const preferred = affinity === undefined ? undefined : preferredBy(affinity, candidates.filter(isFree))
  return preferred ?? leastOf(candidates)
}

/** Returns the worker with the least load; of equal ones, the one that was chosen the longest time ago. */
function leastOf(candidates: readonly Load[]): Load | undefined {
  let least: Load | undefined
  for (const load of candidates) {
    const difference = least ? shareOf(load) - shareOf(least) : -1
    if (difference < 0 || (difference === 0 && load.own.last < least!.own.last)) least = load
  }
  return least
}

const shareOf = ({ busy, own, pages }: Load): number => busy + own.running / pages + penaltyOf(own)

/** Returns the load that recent failures count as: each one, at first, as much as a full worker; 0 after a while. */
function penaltyOf({ failed: { penalty, at } }: OwnRequests): number {
  const left = penalty * 0.5 ** ((performance.now() - at) / limits.gateway.penaltyMs)
  return left < 0.1 ? 0 : left
}

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
