/** Where an operation runs when gateways and workers share the work. A single engine runs all of them itself. */
import type { BoundKind, SlotKind, WorkerLabel } from '../fleet.ts'

/** On the worker that holds an object. */
export interface OnObject<In = never> {
  readonly on: 'object'
  /** Input field with the ID or name of the object. */
  readonly field: string
  /** Kinds that the object may have. */
  readonly kinds: readonly BoundKind[]
  /** Where it runs without that field; the field is always present if undefined. */
  readonly absent?: OnNew | OnAny<In> | OnGateway | OnOnly
  /**
   * Behavior for an unknown object: `gateway` runs in the gateway, `absent` runs as if the field were absent. By default
   * any worker responds, with the error for it.
   */
  readonly unknown?: 'gateway' | 'absent'
}

/** On a worker with a free slot, because it creates an object. */
export interface OnNew {
  readonly on: 'new'
  readonly slot: SlotKind
  /** Input field with the name of the new object. */
  readonly name?: string
}

/** On the least loaded worker with the label. It is repeated on another one if that worker is lost before it responds. */
export interface OnAny<In = never> {
  readonly on: 'any'
  readonly label: WorkerLabel
  /** Returns whether the work must not be repeated, since it may have had an effect. */
  once?(input: In): boolean
  /**
   * Returns a text by which equal work prefers the same worker, since that has the result in its cache. The fields are
   * not validated.
   */
  affinity?(fields: Readonly<Record<string, unknown>>): string | undefined
}

/** On every worker; the responses become one. */
export interface OnAll<In = never, Out = never> {
  readonly on: 'all'
  /** Whether the gateway also runs it, before the workers; its response comes first in the list. */
  readonly own?: true
  /** Joins the responses of the workers, in no particular order. */
  merge(outputs: readonly Out[], input: In): Out
}

/** In the gateway: on the shared stores, or without any state. */
export interface OnGateway {
  readonly on: 'gateway'
}

/** On the worker that holds the only object in a list. */
export interface OnOnly {
  readonly on: 'only'
  readonly kinds: readonly BoundKind[]
  /** Route of the list, which runs on all workers, with its query. */
  readonly list: `GET /${string}`
  /** Returns the ID of the only object. @throws BaxError unless there is just one */
  pick(output: unknown): string
}

/** Where an operation runs. */
export type Placement<In = never, Out = never> = OnObject<In> | OnNew | OnAny<In> | OnAll<In, Out> | OnGateway | OnOnly

export const inGateway: OnGateway = { on: 'gateway' }

export const onSession = onObject('session_id', ['session'])

/** On the worker with a session of its own or with the browser of a user. */
export const onAnySession = onObject('session_id', ['session', 'relay'])

export const onRelay = onObject('id', ['relay'])

export const onShell = onObject('session_id', ['shell'])

export const onExec = onObject('exec_id', ['exec'])

export function onObject(field: string, kinds: readonly BoundKind[]): OnObject {
  return { on: 'object', field, kinds }
}

/** Errors of operations on an unknown object. */
export const unknownCodes = {
  session: 'session_not_found',
  provision: 'provision_not_found',
  shell: 'shell_session_not_found',
  exec: 'exec_not_found',
  artifact: 'artifact_not_found',
  relay: 'relay_not_found',
} as const
