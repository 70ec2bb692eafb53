/** Takes waiting provisions on a worker with free slots, and creates their sessions with the worker's own engine. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../core/config/config.ts'
import type { Diagnostics, Sessions } from '../../core/engine.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import type { Directory } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/call.ts'
import { type ProvisionResult, type ProvisionStore, stagesOf, type TakenProvision } from './store.ts'

export interface TakerFacts {
  readonly store: ProvisionStore
  readonly directory: Pick<Directory, 'reserve' | 'release'>
  readonly sessions: Pick<Sessions, 'create' | 'provision' | 'cancelProvision' | 'close'>
  readonly diagnostics: Pick<Diagnostics, 'addStages'>
  /** The worker's current ID. */
  readonly workerId: () => string
  /** Called with the error when the browser of the worker does not start. */
  readonly failed: (error: BaxError) => Promise<void>
  /** Whether the worker is ready and may have a free slot; avoids needless attempts. The directory decides. */
  readonly mayTake: () => boolean
  readonly log: Log
}

export interface Taker {
  /** Looks for waiting provisions at once, since a slot became free. */
  wake(): void
  /** Takes no more; resolves when the sessions under way are created or failed. */
  close(): Promise<void>
}

const { atOnce, everyMs } = limits.scaling.taking

export function takeProvisions(facts: TakerFacts): Taker {
  const { store, log } = facts
  const closing = new AbortController()
  const running = new Set<Promise<boolean>>()
  let wake = new AbortController()
  const rest = async (ms: number) => {
    const { signal } = wake
    await store.signals
      .next(ms, (message) => message === 'waiting', AbortSignal.any([signal, closing.signal]))
      .catch(() => {})
    if (signal.aborted) wake = new AbortController()
  }
  /** Returns whether there may be more to take. */
  const takeOne = async (): Promise<boolean> => {
    if (running.size >= atOnce || !facts.mayTake()) return false
    const taken = await store.take()
    if (!taken) return false
    const begun = new Promise<boolean>((resolve) => {
      const work = new Creation(facts, taken).run(resolve)
      running.add(work)
      void work.finally(() => {
        running.delete(work)
        resolve(false)
        wake.abort()
      })
    })
    return begun
  }
  const loop = async () => {
    let warned = false
    while (!closing.signal.aborted) {
      try {
        if (!(await takeOne())) await rest(everyMs)
        warned = false
      } catch (error) {
        if (!warned && !closing.signal.aborted)
          log('warn', 'cannot take provisions', { error: (error as Error).message })
        warned = true
        await rest(limits.scaling.retryMs)
      }
    }
  }
  const looping = loop()
  return {
    wake: () => wake.abort(),
    async close() {
      closing.abort()
      await looping
      await Promise.allSettled(running)
    },
  }
}

/** Errors of this worker, which another one may not have. */
const elsewhere: ReadonlySet<string> = new Set(['shutting_down', 'worker_not_found', 'fleet_unavailable'])

/** One attempt to create the session of a provision. */
class Creation {
  readonly #facts: TakerFacts
  readonly #taken: TakenProvision
  /** Aborted when the provision is cancelled, has failed, or belongs to another worker. */
  readonly #lost = new AbortController()
  #reservation: string | undefined

  constructor(facts: TakerFacts, taken: TakenProvision) {
    this.#facts = facts
    this.#taken = taken
  }

  /** Calls `begun` as soon as it is known whether this worker has a slot for it. */
  async run(begun: (hasSlot: boolean) => void): Promise<boolean> {
    const { store, log } = this.#facts
    const taken = this.#taken
    const stopRenewing = this.#keepLease()
    try {
      const hasSlot = await this.#reserve()
      begun(hasSlot)
      if (!hasSlot) return await store.giveBack(taken, false)
      if (!(await store.found(taken))) throw lostError()
      const result = await this.#create()
      if (await store.complete(taken, result)) {
        await this.#addStages(result.session_id!)
        return true
      }
      await this.#facts.sessions.close(result.session_id!, this.#call())
      throw lostError()
    } catch (thrown) {
      const error = asBaxError(thrown)
      await this.#release()
      if (this.#lost.signal.aborted) return false
      // Until the check has ended, this worker would take it again.
      if (error.unavailable) await this.#facts.failed(error)
      if (error.unavailable || elsewhere.has(error.code))
        return store.giveBack(taken, true, error.unavailable ? error : undefined).catch(() => false)
      return store.fail(taken, error.code, error.message).catch((failure: Error) => {
        log('warn', 'cannot report a failed provision', { provision: taken.id, error: failure.message })
        return false
      })
    } finally {
      stopRenewing()
    }
  }

  async #reserve(): Promise<boolean> {
    const { owner, name, most } = this.#taken
    const reservation = await this.#facts.directory.reserve({
      kind: 'session',
      owner,
      most,
      worker: this.#facts.workerId(),
      ...(name !== null && { name }),
    })
    this.#reservation = reservation?.id
    return reservation !== undefined
  }

  /** Creates the session, also through the engine's own queue for a browser. */
  async #create(): Promise<ProvisionResult> {
    const { sessions } = this.#facts
    const call = this.#call(this.#reservation)
    const made = await sessions.create(this.#taken.input, call)
    if (made.status === 'ready') return resultOf(made)
    const provisionId = made.provision_id!
    try {
      for (;;) {
        const record = await sessions.provision(provisionId, call)
        if (record.status === 'ready') return resultOf(record)
        if (record.status !== 'provisioning')
          throw BaxError.fromBody(
            { error: record.error ?? record.status, ...(record.code && { code: record.code as never }) },
            'no_capacity',
          )
        await pause(everyMs / 10, undefined, { signal: this.#lost.signal })
      }
    } catch (error) {
      await sessions.cancelProvision(provisionId, call)
      throw error
    }
  }

  /** Adds the stages to the event log of the session. Without Redis, or when the session has ended, it has none. */
  async #addStages(sessionId: string): Promise<void> {
    const { store, diagnostics, log } = this.#facts
    const { id, caller } = this.#taken
    try {
      const stored = await store.read(id)
      if (stored) diagnostics.addStages(sessionId, stagesOf(stored), { caller })
    } catch (error) {
      log('debug', 'the stages of a provision are not in its events', {
        provision: id,
        error: (error as Error).message,
      })
    }
  }

  #call(reservation?: string): Call {
    const { caller, baseUrl, socketBaseUrl, requestId } = this.#taken
    const call = { caller, baseUrl, socketBaseUrl, requestId, signal: this.#lost.signal }
    return { ...call, ...(reservation !== undefined && { reservation }) }
  }

  async #release(): Promise<void> {
    const { directory, log } = this.#facts
    const reservation = this.#reservation
    if (reservation === undefined) return
    await directory
      .release(reservation)
      .catch((error: Error) => log('warn', 'cannot release a slot', { reservation, error: error.message }))
  }

  /** Renews the lease, and notices its end; returns a function that stops both. */
  #keepLease(): () => void {
    const { store } = this.#facts
    const lose = () => this.#lost.abort(lostError())
    let renewed = performance.now()
    const timer = setInterval(() => {
      const asked = performance.now()
      // Without Redis nothing reports that the lease has ended.
      if (asked - renewed > store.leaseMs) return lose()
      store.renew(this.#taken).then(
        (held) => {
          if (held) renewed = asked
          else lose()
        },
        () => {},
      )
    }, store.leaseMs / 5)
    const ended = `ended ${this.#taken.id}`
    const stopListening = store.signals.listen((message) => message === ended && lose())
    return () => {
      clearInterval(timer)
      stopListening()
    }
  }
}

const lostError = (): BaxError => new BaxError('cancelled', 'the provision was cancelled or is no longer this worker’s')

const resultOf = (made: {
  readonly session_id?: string | null | undefined
  readonly frame_token?: string | null | undefined
  readonly name?: string | null | undefined
  readonly cdp_url?: string | null | undefined
  readonly warning?: string | undefined
}): ProvisionResult => ({
  session_id: made.session_id!,
  frame_token: made.frame_token!,
  name: made.name ?? null,
  serves_cdp: typeof made.cdp_url === 'string',
  ...(made.warning !== undefined && { warning: made.warning }),
})
