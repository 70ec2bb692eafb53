/** A session on its way from the queue to a browser, as its caller can poll it. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ProvisionRecord, ProvisionStage } from '../../../core/shapes/session.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { bindUntil } from '../../bound.ts'
import { urlsOf, type BaseUrls } from '../links/session-urls.ts'
import type { LiveSession, OpenedSession } from '../ports/session.ts'
import type { Slot, SlotRequest } from '../pool/slots.ts'

const stageOrder: readonly ProvisionStage[] = ['provisioning', 'scaling', 'worker_found', 'creating', 'ready', 'failed']

export interface ProvisionFacts {
  /** ID of the key that requested the session; null when the engine uses no keys. */
  readonly owner: string | null
  readonly waiting: SlotRequest
  /** Creates the session on a slot; frees the slot when that fails. */
  readonly open: (slot: Slot) => Promise<OpenedSession>
  /** Runs when the session is ready, failed or cancelled. */
  readonly onEnded: () => void
}

/** A queued session; the promise rejects when it fails or is cancelled. */
export interface Provisioning {
  readonly provision: Provision
  readonly session: Promise<OpenedSession>
}

/** Facts of the created session that the record reports, even after that session has ended. */
type CreatedSession = Pick<LiveSession, 'sessionId' | 'name' | 'servesCdp'> &
  Pick<OpenedSession, 'frameToken' | 'warning'>

export class Provision {
  readonly id = newId('prv')
  readonly owner: string | null
  readonly #waiting: SlotRequest
  readonly #createdAt = new Date()
  readonly #stages: { stage: ProvisionStage; at: string }[] = []
  readonly #cancel = new AbortController()
  #status: ProvisionRecord['status'] = 'provisioning'
  /** Status after an end without a session. */
  #outcome: 'failed' | 'cancelled' = 'failed'
  #created: CreatedSession | undefined
  #error: BaxError | undefined
  #endedAt: Date | undefined

  private constructor({ owner, waiting }: ProvisionFacts) {
    this.owner = owner
    this.#waiting = waiting
    this.#advance('provisioning')
  }

  static begin(facts: ProvisionFacts): Provisioning {
    const provision = new Provision(facts)
    const session = provision.#run(facts)
    // The record reports the failure.
    session.catch(() => {})
    return { provision, session }
  }

  get endedAt(): Date | undefined {
    return this.#endedAt
  }

  /** Leaves the queue or aborts the creation; does nothing after the end. */
  cancel(reason = new BaxError('cancelled', 'the provisioning was cancelled')): void {
    this.#outcome = 'cancelled'
    this.#cancel.abort(reason)
  }

  record(bases: BaseUrls): ProvisionRecord {
    const created = this.#created
    const { stage, at: updated_at } = this.#stages.at(-1)!
    const kept = this.#endedAt ? limits.session.tombstoneMs : limits.provision.timeoutMs
    const expires = new Date((this.#endedAt ?? this.#createdAt).getTime() + kept)
    return {
      provision_id: this.id,
      status: this.#status,
      stage,
      stages: [...this.#stages],
      queue_position: this.#waiting.position,
      retry_after_ms: limits.provision.retryAfterMs,
      created_at: this.#createdAt.toISOString(),
      updated_at,
      expires_at: expires.toISOString(),
      session_id: created?.sessionId ?? null,
      frame_token: created?.frameToken ?? null,
      name: created?.name ?? null,
      ...(created ? urlsOf(created, bases) : { sse_url: null, cdp_url: null, live_view_url: null }),
      ...(created?.warning && { warning: created.warning }),
      error: this.#error?.message ?? null,
      code: this.#error?.code ?? null,
    }
  }

  async #run({ waiting, open, onEnded }: ProvisionFacts): Promise<OpenedSession> {
    const timer = setTimeout(() => this.#cancel.abort(queueTimeout()), limits.provision.timeoutMs)
    try {
      const slot = await this.#unlessCancelled(waiting.slot, (late) => late.free())
      if (slot.launching) this.#advance('scaling')
      await this.#unlessCancelled(slot.found, () => slot.free())
      this.#advance('worker_found')
      this.#advance('creating')
      const opened = await this.#unlessCancelled(open(slot), (late) => late.session.endLater('deleted'))
      const { session, frameToken, warning } = opened
      const { sessionId, name, servesCdp } = session
      this.#created = { sessionId, name, servesCdp, frameToken, ...(warning && { warning }) }
      this.#status = 'ready'
      this.#advance('ready')
      emitStages(session, this.#stages)
      return opened
    } catch (thrown) {
      waiting.leave()
      this.#error = asBaxError(thrown)
      this.#status = this.#outcome
      this.#advance('failed')
      throw this.#error
    } finally {
      clearTimeout(timer)
      this.#endedAt = new Date()
      onEnded()
    }
  }

  /** Waits for `work` unless it is cancelled first; passes a result that arrives later to `discard`. */
  async #unlessCancelled<T>(work: Promise<T>, discard: (late: T) => void): Promise<T> {
    const { signal } = this.#cancel
    try {
      return await withDeadline(work, { signal })
    } catch (error) {
      // Work that fails leaves nothing to discard.
      if (signal.aborted) work.then(discard, () => {})
      throw error
    }
  }

  #advance(stage: ProvisionStage): void {
    const last = this.#stages.at(-1)
    if (last && stageOrder.indexOf(stage) <= stageOrder.indexOf(last.stage)) return
    this.#stages.push({ stage, at: new Date().toISOString() })
  }
}

/** Adds the stages of a provision to the events of its session, which did not exist when they began. */
export function emitStages({ events }: Pick<LiveSession, 'events'>, stages: ProvisionRecord['stages']): void {
  for (const stage of stages) events.emit('provision.stage', { ...stage })
}

/** Provisions by ID: the pending ones, and for a while the ended ones. */
export class Provisions {
  readonly #byId = new Map<string, Provision>()

  get underWay(): number {
    return [...this.#byId.values()].filter(({ endedAt }) => !endedAt).length
  }

  begin(facts: ProvisionFacts): Provisioning {
    this.#expire()
    const provisioning = Provision.begin(facts)
    this.#byId.set(provisioning.provision.id, provisioning.provision)
    return provisioning
  }

  /** Returns a provision. @throws BaxError `provision_not_found`, also for provisions of other keys. */
  find(provisionId: string, caller: Caller): Provision {
    this.#expire()
    const provision = this.#byId.get(provisionId)
    if (provision && canSee(caller, provision.owner)) return provision
    throw provisionNotFound(provisionId)
  }

  /** Cancels those under way that a key created; returns their IDs. */
  cancelOwn(owner: string | null): string[] {
    const own = [...this.#byId.values()].filter((provision) => provision.owner === owner && !provision.endedAt)
    for (const provision of own) provision.cancel()
    return own.map(({ id }) => id)
  }

  cancelAll(reason: BaxError): void {
    for (const provision of this.#byId.values()) provision.cancel(reason)
  }

  #expire(): void {
    const oldest = Date.now() - limits.session.tombstoneMs
    for (const [id, { endedAt }] of this.#byId) {
      if (endedAt && endedAt.getTime() < oldest) this.#byId.delete(id)
    }
  }
}

export const shuttingDownError = (): BaxError => new BaxError('shutting_down', 'the engine is shutting down')

export const lostLeaseError = (): BaxError => new BaxError('worker_lost', 'the worker has lost its lease')

export const provisionNotFound = (provisionId: string): BaxError =>
  new BaxError('provision_not_found', `no provision has the id ${JSON.stringify(provisionId)}`)

export const queueFullError = (): BaxError =>
  new BaxError('no_capacity', `${limits.overload.provisions} sessions already wait for a browser`, {
    retryAfterSecs: limits.overload.retryAfterSecs,
  })

const queueTimeout = (): BaxError =>
  new BaxError('no_capacity', `no browser had a free slot within ${limits.provision.timeoutMs / 1000} s`, {
    hint: 'close unused sessions, or allow more browsers',
    retryAfterSecs: 5,
  })

/** Makes a provision known in the fleet before a response names it; cancels it if that fails. */
export async function bindProvision(
  config: Pick<EngineConfig, 'bound' | 'log'>,
  { provision, session }: Provisioning,
): Promise<void> {
  const ended = new AbortController()
  const end = () => ended.abort()
  session.then(end, end)
  const { id, owner } = provision
  try {
    const until = { ended: ended.signal, keptMs: limits.session.tombstoneMs }
    await bindUntil(config, { id, kind: 'provision', owner, name: null }, until)
  } catch (error) {
    provision.cancel()
    throw error
  }
}

/** Waits for the session of a provision, which is cancelled when the signal is aborted. */
export async function openedUnless(signal: AbortSignal, made: Provisioning): Promise<OpenedSession> {
  const quit = () => made.provision.cancel()
  signal.addEventListener('abort', quit, { once: true })
  try {
    return await made.session
  } finally {
    signal.removeEventListener('abort', quit)
  }
}
