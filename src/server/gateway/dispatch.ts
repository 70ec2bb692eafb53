/** Chooses the worker of a request, and another one where that is safe. */
import type { Caller } from '../../core/access/caller.ts'
import { allowanceOf, type Allowances, type Holder } from '../../core/access/quota.ts'
import { BaxError } from '../../core/errors/errors.ts'
import {
  type BoundKind,
  type Directory,
  type SlotKind,
  slotKinds,
  type WorkerAddress,
  type WorkerLabel,
} from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { unknownCodes } from '../../core/operation/placement.ts'
import type { OnAny, OnGateway, OnNew, OnObject, OnOnly, Placement } from '../../core/operation/placement.ts'
import { ObjectLookup } from './lookup.ts'
import type { Refused } from './refusals.ts'
import { LostWorker, workerLost } from './worker-requests.ts'

/** Outcome of a request on one worker: `refused` if it has not run. */
export type Sent<T> =
  | { readonly as: 'done'; readonly value: T }
  | { readonly as: 'failed'; readonly value: T; readonly status: number }
  | ({ readonly as: 'refused' } & Refused)

export interface Work<T> {
  /** The input, which is not validated. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Returns the validated input. @throws BaxError `invalid_request` */
  input(): Readonly<Record<string, unknown>>
  readonly caller: Caller
  /** Holds what the request creates; the caller by default. */
  readonly holder?: Holder | undefined
  /** Whether a token, which the worker checks, may replace the rights of the caller. */
  readonly hasToken: boolean
  /** Runs it on a worker. @throws LostWorker */
  run(worker: WorkerAddress, reservation?: string): Promise<Sent<T>>
}

/** Place where a request was run; `full` if no worker has a free slot. */
export type Dispatched<T> =
  | { readonly on: 'worker'; readonly value: T }
  | { readonly on: 'gateway' }
  | { readonly on: 'full'; readonly slot: SlotKind }

/** A placement that names one worker. */
export type OnOne = OnObject | OnNew | OnAny

export class Dispatcher {
  readonly #directory: Directory
  readonly #allowances: Allowances
  readonly #lookup: ObjectLookup

  constructor(directory: Directory, allowances: Allowances) {
    this.#directory = directory
    this.#allowances = allowances
    this.#lookup = new ObjectLookup(directory)
  }

  /** @throws BaxError `worker_lost`, `session_closed` for an object of a lost worker, those of `Directory`. */
  async dispatch<T>(runs: OnOne | OnGateway, work: Work<T>): Promise<Dispatched<T>> {
    switch (runs.on) {
      case 'gateway':
        return { on: 'gateway' }
      case 'any':
        return { on: 'worker', value: await this.#onAny(runs, work) }
      case 'new':
        return this.#onFreeSlot(runs, work)
      case 'object':
        return this.#onObject(runs, work)
    }
  }

  async #onObject<T>(runs: OnObject, work: Work<T>): Promise<Dispatched<T>> {
    const { kinds, field, unknown, absent } = runs
    const given = work.fields[field]
    const known = typeof given === 'string' ? this.#lookup.known(given, kinds, work) : undefined
    // The worker validates the input.
    if (known) return { on: 'worker', value: await this.#onHolder(known, kinds, work) }
    const id = work.input()[field] as string
    const isReplaceable = unknown === 'absent' && absent !== undefined && isOnOne(absent)
    const object = await this.#lookup.find(id, kinds, work).catch((error: unknown) => {
      if (isReplaceable && error instanceof BaxError && error.code === 'session_closed') return undefined
      throw error
    })
    if (object) return { on: 'worker', value: await this.#onHolder(object, kinds, work) }
    if (unknown === 'gateway') return { on: 'gateway' }
    if (isReplaceable) return this.dispatch(absent, work)
    return { on: 'worker', value: await this.#onUnknown(id, kinds[0]!, work) }
  }

  async #onHolder<T>(
    { id, worker }: { readonly id: string; readonly worker: WorkerAddress },
    kinds: readonly BoundKind[],
    work: Work<T>,
  ): Promise<T> {
    try {
      return valueOf(await work.run(worker))
    } catch (error) {
      if (!(error instanceof LostWorker)) throw error
      this.#lookup.forget(id)
      // Responds that the object is gone if that is known already.
      if (!error.sent) await this.#lookup.find(id, kinds, work)
      this.#lookup.forget(id)
      throw workerLost(error)
    }
  }

  /** Lets any worker respond that it does not know the object. */
  async #onUnknown<T>(id: string, kind: BoundKind, work: Work<T>): Promise<T> {
    const label = labels[kind]
    const worker = (await this.#directory.workers()).find((one) => one.labels.includes(label))
    if (!worker) throw new BaxError(unknownCodes[kind], `no worker is running, and none had ${JSON.stringify(id)}`)
    return valueOf(await work.run(worker).catch(rethrowLost))
  }

  async #onAny<T>({ label, once, affinity }: OnAny, work: Work<T>): Promise<T> {
    const tried = new Set<string>()
    const wanted = affinity?.(work.fields)
    let failure: Failure | undefined
    while (tried.size < limits.gateway.attempts) {
      const chosen = await this.#directory.leastLoaded(label, tried, wanted)
      if (!chosen) break
      const { worker } = chosen
      tried.add(worker.id)
      let failed: Failure | undefined
      try {
        const sent = await work.run(worker)
        if (sent.as !== 'refused') return sent.value
        failed = sent.lacks
      } catch (error) {
        if (!(error instanceof LostWorker)) throw error
        failed = error
        if (error.sent && once?.(work.input() as never)) throw workerLost(error)
      } finally {
        chosen.done(failed !== undefined)
      }
      failure = failed ?? failure
    }
    work.input()
    throw failure ? errorOf(failure) : noWorker(label)
  }

  async #onFreeSlot<T>({ slot, name }: OnNew, work: Work<T>): Promise<Dispatched<T>> {
    const { holder = work.caller } = work
    const input = work.input()
    const most = mostOf(slot, holder, this.#allowances)
    const wanted = name === undefined ? undefined : (input[name] as string | undefined)
    const except = new Set<string>()
    let failure: Failure | undefined
    while (except.size < limits.gateway.attempts) {
      const reservation = await this.#directory.reserve({
        kind: slot,
        owner: holder.keyId,
        most,
        except,
        ...(wanted !== undefined && { name: wanted }),
      })
      if (!reservation) break
      const { id, worker } = reservation
      except.add(worker.id)
      let isUsed = false
      // An error of the client or of this gateway says nothing about the worker.
      let failed = false
      try {
        const sent = await work.run(worker, id)
        isUsed = sent.as === 'done'
        failed = sent.as === 'refused' ? sent.lacks !== undefined : sent.as === 'failed' && isServerError(sent.status)
        if (sent.as !== 'refused') return { on: 'worker', value: sent.value }
        failure = sent.lacks ?? failure
      } catch (error) {
        if (!(error instanceof LostWorker)) throw error
        failed = true
        if (error.sent) throw workerLost(error)
        failure = error
      } finally {
        if (!isUsed) await this.#directory.release(id, failed ? { workerId: worker.id, kind: slot } : undefined)
      }
    }
    if (failure) throw errorOf(failure)
    return { on: 'full', slot }
  }
}

/** Why a worker has not run a request that another one may run. */
type Failure = LostWorker | BaxError

const errorOf = (failure: Failure): BaxError => (failure instanceof LostWorker ? workerLost(failure) : failure)

/** Returns whether a response reports an error of the server. */
const isServerError = (status: number): boolean => status >= 500

/** Returns whether a placement names one worker. */
export const isOnOne = (runs: Placement | OnOnly): runs is OnOne =>
  runs.on === 'object' || runs.on === 'new' || runs.on === 'any'

export const noSlot = (slot: SlotKind): BaxError =>
  new BaxError('no_capacity', `no worker has a free slot for a ${slotNouns[slot]}`, {
    hint: 'end one that is no longer needed, or start more workers',
    retryAfterSecs: limits.overload.retryAfterSecs,
  })

const slotNouns = { session: 'browser session', shell: 'shell session', relay: 'relay' }

const noWorker = (label: WorkerLabel): BaxError =>
  new BaxError('no_capacity', `no worker with the label ${label} is ready`, {
    hint: 'start a worker with "bax worker --fleet URL --secret-file FILE"',
    retryAfterSecs: limits.overload.retryAfterSecs,
  })

/** Returns the maximum number of slots of a kind that a caller may hold; 0 for no limit. */
export function mostOf(slot: SlotKind, holder: Holder, allowances: Allowances): number {
  const { sessions, shells, relays } = allowanceOf(holder, allowances)
  return { session: sessions, shell: shells, relay: relays }[slot]
}

/** Returns the response of the only worker that can have one. */
function valueOf<T>(sent: Sent<T>): T {
  if (sent.as !== 'refused') return sent.value
  throw sent.lacks ?? new BaxError('shutting_down', 'the worker is shutting down', { retryAfterSecs: 1 })
}

function rethrowLost(error: unknown): never {
  throw error instanceof LostWorker ? workerLost(error) : error
}

const labels: Readonly<Record<BoundKind, WorkerLabel>> = {
  ...slotKinds,
  provision: 'browser',
  exec: 'shell',
  artifact: 'shell',
}
