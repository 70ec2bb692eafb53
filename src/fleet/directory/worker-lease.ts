/**
 * The registration of a worker, kept alive by heartbeats. A worker that was away for too long learns from Redis that its
 * lease is lost, and then ends everything it holds. While Redis itself is away, it keeps everything: nobody else can have
 * taken its place, and it cannot bind anything new.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import type { BoundObject, BoundObjects, Capabilities, WorkerIdentity } from '../../core/fleet.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import { HeldObjects } from './bound-objects.ts'
import { leaveWith } from './directory.ts'
import { ask } from '../redis/ask.ts'
import { prefix, type RunScript, scriptsOn } from './scripts/run.ts'

export interface WorkerLeaseOptions {
  readonly redis: Redis
  readonly worker: Omit<WorkerIdentity, 'id' | 'started_at'>
  readonly log: Log
  /** Returns the current load, for the heartbeats. */
  readonly load: () => { readonly busy_pages: number; readonly memory_bytes: number }
  /** Returns the labels that work; by default, all labels of the worker. */
  readonly capabilities?: () => Capabilities
  /** Ends everything that the worker holds; it registers again afterwards. */
  readonly onLost: () => Promise<void>
  /** Called when the worker is asked to drain. */
  readonly onDrain?: () => void
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  readonly answerMs?: number
}

export class WorkerLease implements BoundObjects {
  readonly #options: WorkerLeaseOptions
  readonly #run: RunScript
  /** With the time that a heartbeat may take. */
  readonly #runSoon: RunScript
  readonly #leaseMs: number
  readonly #heartbeatMs: number
  readonly #startedAt = new Date().toISOString()
  #id!: string
  /** ID of a registration that may have begun. */
  #nextId: string | undefined
  #held!: HeldObjects
  #skewMs = 0
  #draining = false
  readonly #stopping = new AbortController()
  #beating: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  private constructor(options: WorkerLeaseOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? limits.fleet.leaseMs
    this.#heartbeatMs = options.heartbeatMs ?? limits.fleet.heartbeatMs
    this.#run = scriptsOn(options.redis, options.answerMs)
    this.#runSoon = scriptsOn(options.redis, this.#heartbeatMs)
  }

  /** Registers a worker. @throws BaxError `fleet_unavailable` */
  static async start(options: WorkerLeaseOptions): Promise<WorkerLease> {
    const lease = new WorkerLease(options)
    await lease.#register()
    lease.#schedule()
    return lease
  }

  /** ID of the current registration; another one after a lost lease. */
  get id(): string {
    return this.#id
  }

  /** Whether an ID is that of the current registration, or of one that gateways may already know. */
  isOwn(workerId: string): boolean {
    return workerId === this.#id || workerId === this.#nextId
  }

  get draining(): boolean {
    return this.#draining
  }

  /** Number of objects that are bound to this worker. */
  get objects(): number {
    return this.#held.count
  }

  /** Time by which the clock of Redis is ahead of this machine's, in milliseconds. */
  get skewMs(): number {
    return this.#skewMs
  }

  bind(object: Omit<BoundObject, 'worker' | 'lost_at'>, reservation?: string): Promise<void> {
    return this.#held.bind(object, reservation)
  }

  end(id: string, keptMs: number): Promise<void> {
    return this.#held.end(id, keptMs)
  }

  /** Sends a heartbeat now, because what the worker can do has changed. */
  report(): void {
    if (!this.#stopping.signal.aborted) this.#beating = this.#beating.then(() => this.#beat())
  }

  /** Gets nothing new from now on, also after another registration. */
  async drain(): Promise<void> {
    this.#startDraining()
    await this.#run('drain', this.#id)
  }

  /** Deregisters; what is still bound counts as lost. @throws BaxError `fleet_unavailable` */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await this.#beating
    this.#held.lose()
    await leaveWith(this.#run, this.#id)
  }

  /** Registers with a new identity; may be repeated with the same one. */
  async #register(id = newId('wrk')): Promise<void> {
    const { worker } = this.#options
    const info: WorkerIdentity = { ...worker, id, started_at: this.#startedAt }
    const { session, shell, relay } = worker.slots
    const sentAt = Date.now()
    this.#nextId = id
    const nowMs = await this.#run<number>(
      'register',
      id,
      this.#leaseMs,
      JSON.stringify(info),
      worker.url,
      worker.build,
      ...this.#capabilities(),
      worker.pages,
      session,
      shell,
      relay,
    )
    if (this.#draining) await this.#run('drain', id)
    this.#id = id
    this.#held = new HeldObjects(this.#run, { id, url: worker.url })
    this.#compareClocks(sentAt, nowMs)
  }

  /** Returns the labels that work and why others do not, as scripts read them. */
  #capabilities(): [string, string] {
    const { worker, capabilities } = this.#options
    const { labels, broken } = capabilities?.() ?? { labels: worker.labels, broken: {} }
    return [labels.join(','), JSON.stringify(broken)]
  }

  #compareClocks(sentAt: number, nowMs: number): void {
    this.#skewMs = Math.round(nowMs - (sentAt + Date.now()) / 2)
  }

  /** Plans the next heartbeat. Only one is under way at a time. */
  #schedule(): void {
    if (this.#stopping.signal.aborted) return
    // Workers that started together spread out.
    const ms = this.#heartbeatMs * (1 - Math.random() / 4)
    this.#timer = setTimeout(() => {
      this.#beating = this.#beating.then(() => this.#beat()).then(() => this.#schedule())
    }, ms)
  }

  async #beat(): Promise<void> {
    const isHeld = await this.#renewLease().catch((error: unknown) => {
      this.#options.log('warn', 'a heartbeat failed', { error: (error as Error).message })
      return true
    })
    if (!isHeld) await this.#startOver()
  }

  /** Sends a heartbeat; returns false if Redis says that the lease is lost. @throws BaxError `fleet_unavailable` */
  async #renewLease(): Promise<boolean> {
    const { busy_pages: busy, memory_bytes: memory } = this.#options.load()
    const [sentAt, count] = [Date.now(), this.#held.count]
    const [state, listed, nowMs] = await this.#runSoon<[string, number, number]>(
      'heartbeat',
      this.#id,
      this.#leaseMs,
      busy,
      memory,
      this.#skewMs,
      ...this.#capabilities(),
    )
    if (state === 'lost') return false
    this.#compareClocks(sentAt, nowMs)
    if (state === 'draining') this.#startDraining()
    if (listed !== count) await this.#restore()
    return true
  }

  async #restore(): Promise<void> {
    const ids = await ask(this.#options.redis, () => this.#options.redis.smembers(`${prefix}held:${this.#id}`))
    await this.#held.restore(ids.filter((id) => !id.startsWith('rsv_')))
  }

  #startDraining(): void {
    if (this.#draining) return
    this.#draining = true
    this.#options.onDrain?.()
  }

  /** Ends everything after a lost lease, and registers again. */
  async #startOver(): Promise<void> {
    const { log, onLost } = this.#options
    this.#held.lose()
    log('warn', 'the lease of this worker is lost: everything it holds ends', { worker_id: this.#id })
    // Waits for the connection if need be, before the next registration.
    void leaveWith(this.#run, this.#id).catch(() => {})
    await onLost().catch((error: unknown) => log('error', 'could not end everything', { error: String(error) }))
    const id = newId('wrk')
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#register(id)
        log('info', 'this worker is registered again', { worker_id: id })
        return
      } catch (error) {
        log('warn', 'this worker cannot register', { error: (error as Error).message })
        // Rejects when the worker stops.
        await delay(this.#heartbeatMs, undefined, { signal }).catch(() => {})
      }
    }
  }
}
