/** Sessions of a fleet that wait for a worker: begun by any gateway, created by the worker that takes them. */
import type { Caller } from './access/caller.ts'
import type { Call } from './operation/call.ts'
import type { ProvisionRecord, SessionInput } from './shapes/session.ts'

export interface FleetProvisions {
  /**
   * Begins a provision for the caller; returns its ID. `most` limits the sessions of the caller (0: unlimited).
   * @throws BaxError `no_capacity` when too many wait, `too_many_sessions`, `conflict` for a name that another one has
   */
  begin(request: { readonly input: SessionInput; readonly most: number }, call: Call): Promise<string>
  /** @throws BaxError `provision_not_found`, also for provisions of other keys */
  get(provisionId: string, call: ProvisionCall): Promise<ProvisionRecord>
  /**
   * Waits for the end of a provision; cancels it when the signal of the call is aborted.
   * @throws BaxError with the reason why there is no session
   */
  wait(provisionId: string, call: ProvisionCall & Pick<Call, 'signal'>): Promise<ProvisionRecord>
  /** Cancels a provision; does nothing after its end. @throws BaxError `provision_not_found` */
  cancel(provisionId: string, call: ProvisionCall): Promise<void>
  /** Cancels the provisions under way that the caller's key created; returns their IDs. */
  cancelOwn(caller: Caller): Promise<string[]>
  /** Returns the number of provisions that no worker has taken. */
  waiting(): Promise<number>
}

export type ProvisionCall = Pick<Call, 'caller' | 'baseUrl' | 'socketBaseUrl'>
