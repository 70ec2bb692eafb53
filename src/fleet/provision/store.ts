/** Provisions in Redis: the records that callers poll, and the queue from which workers take them. */
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Caller } from '../../core/access/caller.ts'
import type { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { FleetProvision } from '../../core/shapes/fleet/status.ts'
import type { ProvisionRecord, SessionCreated, SessionInput } from '../../core/shapes/session.ts'
import { ask } from '../redis/ask.ts'
import { keyPrefix } from '../redis/connect.ts'
import { Seal } from './seal.ts'
import { type ScriptName, scripts, stageOrder } from './scripts.ts'
import { ProvisionSignals } from './signals.ts'

/** Request for a session, with its caller, as a worker gets it. */
export interface ProvisionJob {
  readonly caller: Caller
  readonly input: SessionInput
  readonly baseUrl: string
  readonly socketBaseUrl: string | null
  readonly requestId: string
  /** Maximum number of sessions of the caller; 0 for no limit. */
  readonly most: number
}

/** A provision that a worker has taken; `take` identifies this attempt. */
export interface TakenProvision extends ProvisionJob {
  readonly id: string
  readonly take: string
  readonly owner: string | null
  readonly name: string | null
}

/** Facts of the created session that callers get. */
export type ProvisionResult = Pick<SessionCreated, 'session_id' | 'frame_token' | 'name' | 'warning'> & {
  readonly serves_cdp: boolean
}

export interface FleetMember {
  /** Secret of the fleet, which encrypts jobs and results. */
  readonly secret: string | Buffer
  /** Build of this process; see `WorkerIdentity`. */
  readonly build: string
  /** Lease of a worker that creates a session, in milliseconds. */
  readonly leaseMs?: number
}

export type StoredProvision = Readonly<Record<string, string>>

const base = `${keyPrefix}provision`
const sets = [`${base}s:waiting:`, `${base}s:taken`, `${base}s:deadlines`, `${base}s:sequence`, `${base}s:builds`]
const recordPrefix = `${base}:`
const channel = `${base}s`

/** Returns the stages that a provision has passed. */
export const stagesOf = (stored: StoredProvision): ProvisionRecord['stages'] =>
  stageOrder.flatMap((stage) => {
    const at = stored[`at:${stage}`]
    return at === undefined ? [] : [{ stage, at: time(at) }]
  })

export const time = (ms: string | number): string => new Date(Number(ms)).toISOString()

type Run = (...args: (string | number)[]) => Promise<unknown>

export class ProvisionStore {
  readonly signals: ProvisionSignals
  readonly leaseMs: number
  readonly #redis: Redis
  readonly #build: string
  readonly #seal: Seal
  readonly #run: Readonly<Record<ScriptName, Run>>

  private constructor(redis: Redis, { secret, build, leaseMs = limits.scaling.taking.leaseMs }: FleetMember) {
    this.#redis = redis
    this.#build = build
    this.leaseMs = leaseMs
    this.#seal = new Seal(secret)
    this.signals = new ProvisionSignals(redis, channel)
    const common = [recordPrefix, channel, limits.session.tombstoneMs, limits.scaling.taking.attempts, build]
    const bound = scripts.map(({ name, run }): [string, Run] => [
      name,
      (...args) => ask(redis, () => run(redis, ...sets, ...common, ...args)),
    ])
    this.#run = Object.fromEntries(bound) as Record<ScriptName, Run>
  }

  /** Opens the store on a connection, and a second connection for messages. */
  static async open(redis: Redis, member: FleetMember): Promise<ProvisionStore> {
    const store = new ProvisionStore(redis, member)
    await store.signals.open()
    return store
  }

  /** Adds a provision; returns `ok`, or which limit it exceeds. */
  async begin(id: string, job: ProvisionJob, timeoutMs: number): Promise<'ok' | 'full' | 'owner' | 'name'> {
    const { caller, input, most } = job
    const sealed = this.#seal.seal(JSON.stringify(job), `job ${id}`)
    const facts = [caller.keyId ?? '', input.requested_name ?? '', timeoutMs, limits.overload.provisions, most, sealed]
    return (await this.#run.begin(id, ...facts)) as 'ok' | 'full' | 'owner' | 'name'
  }

  /** Returns the fields of a record, with its `position` in the queue; undefined if there is none. */
  async read(id: string): Promise<StoredProvision | undefined> {
    const flat = (await this.#run.read(id)) as string[]
    if (flat.length === 0) return undefined
    return Object.fromEntries(flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1]!]] : [])))
  }

  /** Returns the facts of the session of a ready provision. */
  resultOf(id: string, { result }: StoredProvision): ProvisionResult | undefined {
    return result === undefined ? undefined : (JSON.parse(this.#seal.open(result, `result ${id}`)) as ProvisionResult)
  }

  async waiting(): Promise<number> {
    return (await this.state()).waiting
  }

  async state(): Promise<{ waiting: number; active: number; oldest_secs: number | null }> {
    const [waiting, active, oldestMs] = (await this.#run.state('')) as [number, number, number]
    return { waiting, active, oldest_secs: oldestMs < 0 ? null : Math.round(oldestMs / 100) / 10 }
  }

  /** Returns the provisions under way, oldest first. */
  async list(): Promise<FleetProvision[]> {
    const rows = (await this.#run.list('')) as [string, number, number][]
    return rows.map(([provision_id, stage, ms]) => ({
      provision_id,
      stage: stageOrder[stage - 1]!,
      age_secs: Math.round(ms / 100) / 10,
    }))
  }

  /** Takes the oldest waiting provision, for as long as the lease is renewed; undefined if none waits. */
  async take(): Promise<TakenProvision | undefined> {
    const take = randomBytes(12).toString('base64url')
    const [id, owner, name, sealed] = (await this.#run.take('', take, this.leaseMs)) as string[]
    if (id === undefined || sealed === undefined) return undefined
    try {
      const job = JSON.parse(this.#seal.open(sealed, `job ${id}`)) as ProvisionJob
      return { ...job, id, take, owner: owner || null, name: name || null }
    } catch {
      await this.fail({ id, take }, 'unauthorized', 'the provision was not written by a member of this fleet')
      return undefined
    }
  }

  /**
   * Takes over what waits for builds without workers; `ready` returns the builds of the workers that accept work. Does
   * nothing if another worker of this build has done so in the last seconds. Returns the number of provisions.
   */
  async adopt(ready: () => Promise<ReadonlySet<string>>): Promise<number> {
    const turn = `${base}s:adopted:${this.#build}`
    const take = () => this.#redis.set(turn, 1, 'PX', limits.scaling.taking.adoptMs, 'NX')
    if ((await ask(this.#redis, take)) === null) return 0
    const builds = await ready()
    return builds.has(this.#build) ? ((await this.#run.adopt('', ...builds)) as number) : 0
  }

  /** The following return false when the provision is no longer the worker's. */
  renew = (taken: Taken): Promise<boolean> => this.#own('renew', taken, this.leaseMs)
  /** Queues it again. With an error, fails it instead after `taking.attempts` attempts. */
  giveBack = (taken: Taken, mayFitElsewhere: boolean, error?: Pick<BaxError, 'code' | 'message'>): Promise<boolean> =>
    this.#own('giveBack', taken, mayFitElsewhere ? '1' : '', error?.code ?? '', error?.message ?? '')
  found = (taken: Taken): Promise<boolean> => this.#own('found', taken)
  fail = (taken: Taken, code: string, error: string): Promise<boolean> =>
    this.#own('finish', taken, 'failed', 'code', code, 'error', error)

  complete(taken: Taken, result: ProvisionResult): Promise<boolean> {
    const sealed = this.#seal.seal(JSON.stringify(result), `result ${taken.id}`)
    return this.#own('finish', taken, 'ready', 'result', sealed)
  }

  async cancel(id: string): Promise<void> {
    await this.#run.cancel(id)
  }

  /** Cancels the provisions under way of an owner; returns their IDs. */
  async cancelOwn(owner: string): Promise<string[]> {
    return (await this.#run.cancelOwn('', owner)) as string[]
  }

  /** Records for all waiting provisions that the scaler was asked for workers. */
  async markScaling(): Promise<void> {
    await this.#run.scaling('')
  }

  close(): void {
    this.signals.close()
  }

  async #own(script: ScriptName, { id, take }: Taken, ...args: (string | number)[]): Promise<boolean> {
    return (await this.#run[script](id, take, ...args)) === 1
  }
}

type Taken = Pick<TakenProvision, 'id' | 'take'>
