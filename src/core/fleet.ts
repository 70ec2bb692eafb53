/** The directory that gateways and workers share: which workers exist, what they hold, and where new work goes. */
import type { Caller } from './access/caller.ts'
import type { FleetStatus, FleetWorker } from './shapes/fleet/status.ts'

/** Capabilities of a worker: browser sessions, rendering of pages, shell sessions, relays. */
export const workerLabels = ['browser', 'render', 'shell', 'relay'] as const
export type WorkerLabel = (typeof workerLabels)[number]

/** Kinds of objects that live on one worker until they end. */
export type BoundKind = 'session' | 'provision' | 'shell' | 'exec' | 'artifact' | 'relay'

/** Kinds of slots that a worker has, by the label that it needs for them. */
export const slotKinds = { session: 'browser', shell: 'shell', relay: 'relay' } as const
export type SlotKind = keyof typeof slotKinds

/** Message and hint about a Redis without an append-only file. */
export const notAppendOnly = {
  found: 'append-only file is off: a crash loses data',
  mend: 'set "appendonly yes" in the configuration of Redis',
}

/** Message and hint about a Redis that came back empty. */
export const dataLost = {
  message: 'Redis has lost the data of the fleet: its keys, profiles, sessions and crawls are gone',
  hint: 'see "When Redis loses its data" in "bax help scaling-out"',
}

export interface WorkerIdentity {
  readonly id: string
  /** Name for people, given by the operator; need not be unique. */
  readonly name?: string
  /** Private base URL that gateways connect to, without trailing slash. */
  readonly url: string
  readonly labels: readonly WorkerLabel[]
  /** Number of objects of each kind that it holds at most; 0 without the label, or while the label does not work. */
  readonly slots: Readonly<Record<SlotKind, number>>
  /** Pages of crawls at the same time. Scrapes count as load too, but are limited by `limits.overload.pages` only. */
  readonly pages: number
  readonly version: string
  /** Identifies the build: a gateway gives new work to workers of its own build only. */
  readonly build: string
  readonly started_at: string
}

/** Labels of a worker that work, and the reasons why others do not. */
export interface Capabilities {
  readonly labels: readonly WorkerLabel[]
  /** Reason by label that does not work. */
  readonly broken: Readonly<Partial<Record<WorkerLabel, string>>>
}

/** State of a worker. Labels, slots and pages that do not work are left out. */
export interface WorkerRecord extends WorkerIdentity, Capabilities {
  readonly state: 'ready' | 'draining'
  readonly used: Readonly<Record<SlotKind, number>>
  readonly busy_pages: number
  readonly memory_bytes: number
  /** Last heartbeat: ISO 8601 UTC by the clock of Redis, and the milliseconds since. */
  readonly seen_at: string
  readonly age_ms: number
  /** How far the clock of Redis is ahead of the worker's, in milliseconds; signed requests fail if it is too much. */
  readonly skew_ms: number
}

export type WorkerAddress = Pick<WorkerRecord, 'id' | 'url'>

/** A slot of a worker, held for an object that is about to be created; released unless it is bound within 60 s. */
export interface Reservation {
  readonly id: string
  readonly kind: SlotKind
  readonly worker: WorkerAddress
}

/** An object that lives, or has lived, on one worker. */
export interface BoundObject {
  readonly id: string
  readonly kind: BoundKind
  /** ID of the key that owns it; null without keys. */
  readonly owner: string | null
  readonly name: string | null
  readonly worker: WorkerAddress
  /** When its worker was lost; undefined while it may be reached there, also after a regular end. */
  readonly lost_at?: string
}

/** A worker for one request. */
export interface ChosenWorker {
  readonly worker: WorkerAddress
  /** Called when the request has ended: until then it counts as load. Failures lower the weight of the worker for a while. */
  done(isFailure?: boolean): void
}

export interface Directory {
  /**
   * Reserves a slot on the least loaded worker that has one, atomically. `undefined`: no worker has a free slot.
   * `most` limits the objects of the kind that the owner holds (0: unlimited); a name must be free among the owner's.
   * Names of relays need not be unique, but are not those of sessions.
   * @throws BaxError `too_many_sessions`, `conflict`, `fleet_unavailable` (also if all workers run other builds)
   */
  reserve(request: {
    readonly kind: SlotKind
    readonly owner: string | null
    readonly most: number
    readonly name?: string
    /** ID of the only worker to consider. */
    readonly worker?: string
    /** IDs of workers that are not considered. */
    readonly except?: ReadonlySet<string>
  }): Promise<Reservation | undefined>
  /**
   * Gives a reservation back that was not bound; does nothing afterwards. A failure lowers the weight of the worker for
   * objects of a kind for a while.
   */
  release(reservationId: string, failure?: { readonly workerId: string; readonly kind: SlotKind }): Promise<void>
  /** Finds an object by ID, or by name as `findByName` does. Ended ones are found for as long as their tombstones. */
  find(idOrName: string, kinds: readonly BoundKind[], caller: Caller): Promise<BoundObject | undefined>
  /**
   * Returns the live worker with the least load per page slot, among those with the label and without the excluded, as
   * far as this gateway knows. Equal `affinity` texts get the same worker while it has a free page slot, by rendezvous
   * hashing.
   */
  leastLoaded(label: WorkerLabel, except?: ReadonlySet<string>, affinity?: string): Promise<ChosenWorker | undefined>
  workers(): Promise<WorkerRecord[]>
  /** Marks a worker as draining: it gets nothing new. @throws BaxError `worker_not_found` */
  drain(workerId: string): Promise<void>
}

/** Receives the objects of a worker's engine, so that gateways find them. */
export interface BoundObjects {
  /** Binds an object to this worker, before any response names it; `reservation` comes from the call. @throws BaxError */
  bind(object: Omit<BoundObject, 'worker' | 'lost_at'>, reservation?: string): Promise<void>
  /** Frees the slot and the name of an object that has ended; gateways still find it for `keptMs`. */
  end(id: string, keptMs: number): Promise<void>
}

/** The part of the state of a fleet that is in Redis. */
export interface FleetNumbers extends Pick<FleetStatus, 'queues' | 'provisions' | 'scaler' | 'data_lost_at'> {
  readonly workers: readonly Omit<FleetWorker, 'unreachable'>[]
}

/** State and control of a fleet, for its operator. */
export interface Fleet {
  /** @throws BaxError `fleet_unavailable` */
  status(): Promise<FleetStatus>
  /** Returns what metrics show, without a request to the workers. @throws BaxError `fleet_unavailable` */
  numbers(): Promise<FleetNumbers>
  /** @throws BaxError `worker_not_found`, `fleet_unavailable` */
  drain(workerId: string): Promise<void>
}
