/** The directory as gateways use it. */
import type { Redis } from 'ioredis'
import { type Caller, canSee, findByName } from '../../core/access/caller.ts'
import { relayNamed } from '../../core/access/relayed.ts'
import { BaxError } from '../../core/errors/errors.ts'
import {
  type BoundKind,
  type BoundObject,
  type ChosenWorker,
  type Directory,
  type Reservation,
  type SlotKind,
  slotKinds,
  type WorkerLabel,
  type WorkerRecord,
} from '../../core/fleet.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import { assertOwnBuild, type Build } from './builds.ts'
import { isoOf, objectOf, type Row, storedOwner, workerOf } from './records.ts'
import { ask } from '../redis/ask.ts'
import { prefix, type RunScript, scriptsOn } from './scripts/run.ts'
import { WorkerLoads } from './worker-loads.ts'

export interface DirectoryOptions extends Build {
  readonly redis: Redis
  /** Interval of reaping, which every gateway does; 0 never reaps. */
  readonly reapMs?: number
  /** Age from which on the loads of workers are read again; 0 always reads them. */
  readonly loadsMs?: number
  /** Time for an answer of Redis. */
  readonly answerMs?: number
  /** Time for a reserved slot to be bound. */
  readonly reservationMs?: number
  /** Throws while nothing can be found, because Redis has lost the data of the fleet. */
  readonly assertData?: () => Promise<void>
}

/** Opens the directory; `close` ends its timer, and not the connection, which may be shared. */
export const openDirectory = (options: DirectoryOptions): FleetDirectory => new FleetDirectory(options)

export class FleetDirectory implements Directory {
  readonly #redis: Redis
  readonly #run: RunScript
  readonly #loads: WorkerLoads
  readonly #options: DirectoryOptions
  readonly #timer: NodeJS.Timeout | undefined
  /** Verdict on the builds of the workers, with its time: many requests may ask when no slot is free. */
  #checked: { readonly at: number; readonly verdict: Promise<void> } | undefined

  constructor(options: DirectoryOptions) {
    const { redis, answerMs, reapMs = limits.fleet.reapMs, loadsMs = limits.gateway.loadsMs } = options
    this.#redis = redis
    this.#options = options
    this.#run = scriptsOn(redis, answerMs)
    this.#loads = new WorkerLoads(this.#run, options.build, loadsMs)
    // Fails while Redis is away; the next one is early enough.
    if (reapMs > 0) this.#timer = setInterval(() => void this.reap().catch(() => {}), reapMs).unref()
  }

  /** Build of the gateway. */
  get build(): Build {
    const { build, version } = this.#options
    return { build, version }
  }

  async reserve(request: Parameters<Directory['reserve']>[0]): Promise<Reservation | undefined> {
    const { kind, owner, most, worker: only = '', except = [] } = request
    // Names of relays need not be unique.
    const name = kind === 'relay' ? undefined : request.name
    const { build, reservationMs = limits.fleet.reservationMs } = this.#options
    const id = newId('rsv')
    const [answer, worker, url] = await this.#run<[string, string, string]>(
      'reserve',
      id,
      kind,
      storedOwner(owner),
      most,
      name === undefined ? '' : '1',
      name ?? '',
      build,
      reservationMs,
      only,
      ...except,
    )
    if (answer === 'reserved') return { id, kind, worker: { id: worker, url } }
    if (answer === 'too_many') throw tooManyError(kind, most)
    if (answer === 'conflict') throw worker === 'relay' ? relayNamed(name!) : nameError(kind, name!)
    await this.assertOwnBuild()
    return undefined
  }

  async release(reservationId: string, failure?: Parameters<Directory['release']>[1]): Promise<void> {
    await this.#run('release', reservationId, failure?.workerId ?? '', failure?.kind ?? '')
  }

  async find(idOrName: string, kinds: readonly BoundKind[], caller: Caller): Promise<BoundObject | undefined> {
    const named = kinds.filter((kind) => Object.hasOwn(slotKinds, kind))
    const rows = await this.#run<[Row | [], Row[], Row[]]>(
      'find',
      idOrName,
      storedOwner(caller.keyId),
      caller.admin ? '1' : '',
      ...named,
    )
    const [byId, byName, past] = [rows[0].length ? [rows[0] as Row] : [], rows[1], rows[2]].map((some) =>
      some.map(objectOf).filter(({ object, owner }) => kinds.includes(object.kind) && canSee(caller, owner)),
    ) as [Known[], Known[], Known[]]
    // In the order of an engine: live by ID, live by name, ended by ID, the last ended by name.
    const live = byId.find(({ isLive }) => isLive) ?? findLive(byName, idOrName, caller)
    const found = live ?? byId[0] ?? byName.findLast(({ isLive }) => !isLive) ?? past.at(-1)
    if (!found) await this.#options.assertData?.()
    return found?.object
  }

  async leastLoaded(
    label: WorkerLabel,
    except: ReadonlySet<string> = new Set(),
    affinity?: string,
  ): Promise<ChosenWorker | undefined> {
    const chosen = await this.#loads.choose(label, except, affinity)
    if (!chosen) await this.assertOwnBuild()
    return chosen
  }

  /** Returns the live workers of all builds, also those that are draining. */
  async workers(): Promise<WorkerRecord[]> {
    const { answerMs } = this.#options
    const [nowMs, ids] = await this.#run<[number, string[]]>('live')
    const all = await ask(
      this.#redis,
      () => Promise.all(ids.map((id) => this.#redis.hgetall(`${prefix}worker:${id}`))),
      answerMs,
    )
    return all
      .flatMap((fields, at) => (fields['info'] ? [workerOf(ids[at]!, fields, nowMs)] : []))
      .sort((a, b) => a.started_at.localeCompare(b.started_at) || a.id.localeCompare(b.id))
  }

  async drain(workerId: string): Promise<void> {
    if ((await this.#run<number>('drain', workerId)) === 1) return
    throw new BaxError('worker_not_found', `no worker has the id ${JSON.stringify(workerId)}`, {
      hint: 'list them with "bax fleet status"',
    })
  }

  /** Frees what lost workers held, and reservations that were not bound; returns the IDs of the lost workers. */
  reap(): Promise<string[]> {
    return reapWith(this.#run)
  }

  /** Returns when a member found that Redis had lost the data of the fleet, in the last day; null otherwise. */
  async dataLostAt(): Promise<string | null> {
    const lost = await ask(this.#redis, () => this.#redis.get(`${prefix}loss`), this.#options.answerMs)
    return lost === null ? null : isoOf(Number(lost))
  }

  /** Returns how far the clock of Redis is ahead of this machine's, in milliseconds. */
  async skewMs(): Promise<number> {
    const sent = Date.now()
    return Math.round((await this.#now()) - (sent + Date.now()) / 2)
  }

  /** Returns the time of Redis. */
  async #now(): Promise<number> {
    const [secs, micros] = await ask(this.#redis, () => this.#redis.time(), this.#options.answerMs)
    return Number(secs) * 1000 + Math.floor(Number(micros) / 1000)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** @throws BaxError `fleet_unavailable` if workers are ready, but none of this build. */
  assertOwnBuild(): Promise<void> {
    const now = performance.now()
    if (!this.#checked || now - this.#checked.at > 1000) {
      this.#checked = { at: now, verdict: this.workers().then((all) => assertOwnBuild(all, this.#options)) }
    }
    return this.#checked.verdict
  }
}

type Known = ReturnType<typeof objectOf>

const findLive = (byName: readonly Known[], name: string, caller: Caller): Known | undefined =>
  findByName(
    byName.filter(({ isLive }) => isLive),
    name,
    caller,
  )

/** Most objects that one script frees: it keeps Redis busy for some milliseconds. */
const atOnce = 100

export async function reapWith(run: RunScript): Promise<string[]> {
  const lost = new Set<string>()
  for (;;) {
    const [worker] = await run<[string?, number?] & []>('reap', limits.fleet.lostMs, atOnce, limits.fleet.leaseMs)
    if (worker === undefined) return [...lost]
    lost.add(worker)
  }
}

/** Ends the registration of a worker; what it still holds counts as lost. */
export async function leaveWith(run: RunScript, workerId: string): Promise<void> {
  while ((await run<number>('leave', workerId, limits.fleet.lostMs, atOnce)) === 1);
}

function tooManyError(kind: SlotKind, most: number): BaxError {
  return new BaxError('too_many_sessions', `the limit of ${most} ${things[kind]} per key is reached`, {
    hint: 'end one that is no longer needed',
    details: { limit: `${kind}s`, most },
    retryAfterSecs: limits.overload.retryAfterSecs,
  })
}

const things = { session: 'browser sessions', shell: 'shell sessions', relay: 'relays' }

export function nameError(kind: BoundKind, name: string): BaxError {
  const isShell = kind === 'shell'
  return new BaxError('conflict', `a ${isShell ? 'shell' : 'live'} session is already named ${JSON.stringify(name)}`, {
    hint: 'choose another name, or end that session first',
    details: [{ path: isShell ? 'name' : 'requested_name', message: 'is in use' }],
  })
}
