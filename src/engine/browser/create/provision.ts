/** The way of a session from the queue to its browser, as its caller can watch it. */
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ProvisionRecord, ProvisionStage } from '../../../core/shapes/session.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { type Addressed, addressesOf, type Bases } from '../session/session-urls.ts'
import type { Seat, Waiting } from '../pool/pool.ts'
import type { OpenedSession } from './opening.ts'

const order: readonly ProvisionStage[] = ['provisioning', 'scaling', 'worker_found', 'creating', 'ready', 'failed']

export interface ProvisionFacts {
  /** The key that asked for it; null where no keys are in use. */
  readonly owner: string | null
  readonly waiting: Waiting
  /** Makes the session on a seat; frees the seat itself when that fails. */
  readonly open: (seat: Seat) => Promise<OpenedSession>
  /** Runs when it has come to an end, whichever. */
  readonly onSettled: () => void
}

/** A session that waits for its browser; the promise rejects when it failed or was cancelled. */
export interface Provisioning {
  readonly provision: Provision
  readonly session: Promise<OpenedSession>
}

/** What stays to be told of the session that came of it; the session itself may be long gone. */
interface Made extends Addressed, Pick<OpenedSession, 'frameToken' | 'warning'> {
  readonly name: string | null
}

export class Provision {
  readonly id = newId('prv')
  readonly owner: string | null
  readonly #waiting: Waiting
  readonly #createdAt = new Date()
  readonly #stages: { stage: ProvisionStage; at: string }[] = []
  readonly #cancel = new AbortController()
  #status: ProvisionRecord['status'] = 'provisioning'
  /** What an end without a session will count as. */
  #outcome: 'failed' | 'cancelled' = 'failed'
  #made: Made | undefined
  #error: BaxError | undefined
  #settledAt: Date | undefined

  private constructor({ owner, waiting }: ProvisionFacts) {
    this.owner = owner
    this.#waiting = waiting
    this.#reach('provisioning')
  }

  static begin(facts: ProvisionFacts): Provisioning {
    const provision = new Provision(facts)
    const session = provision.#run(facts)
    // Its failure is told by the record; nobody has to listen here.
    session.catch(() => {})
    return { provision, session }
  }

  get settledAt(): Date | undefined {
    return this.#settledAt
  }

  /** Gives up the place in the queue, or the session that is being made; nothing when it has settled. */
  cancel(reason = new BaxError('cancelled', 'the provisioning was cancelled')): void {
    this.#outcome = 'cancelled'
    this.#cancel.abort(reason)
  }

  record(bases: Bases): ProvisionRecord {
    const made = this.#made
    const updated = this.#stages.at(-1)!.at
    const kept = this.#settledAt ? limits.session.tombstoneMs : limits.provision.timeoutMs
    const expires = new Date((this.#settledAt ?? this.#createdAt).getTime() + kept)
    return {
      provision_id: this.id,
      status: this.#status,
      stage: this.#stages.at(-1)!.stage,
      stages: [...this.#stages],
      queue_position: this.#waiting.position,
      retry_after_ms: limits.provision.retryAfterMs,
      created_at: this.#createdAt.toISOString(),
      updated_at: updated,
      expires_at: expires.toISOString(),
      session_id: made?.sessionId ?? null,
      frame_token: made?.frameToken ?? null,
      name: made?.name ?? null,
      ...(made ? addressesOf(made, bases) : { sse_url: null, cdp_url: null, live_view_url: null }),
      ...(made?.warning && { warning: made.warning }),
      error: this.#error?.message ?? null,
      code: this.#error?.code ?? null,
    }
  }

  async #run({ waiting, open, onSettled }: ProvisionFacts): Promise<OpenedSession> {
    const timer = setTimeout(() => this.#cancel.abort(tooLate()), limits.provision.timeoutMs)
    try {
      const seat = await this.#until(waiting.seat, (late) => late.free())
      if (seat.launching) this.#reach('scaling')
      await this.#until(seat.found, () => seat.free())
      this.#reach('worker_found')
      this.#reach('creating')
      const opened = await this.#until(open(seat), (late) => late.session.endLater('deleted'))
      const { session, frameToken, warning } = opened
      const { sessionId, name, servesCdp } = session
      this.#made = { sessionId, name, servesCdp, frameToken, ...(warning && { warning }) }
      this.#status = 'ready'
      this.#reach('ready')
      for (const stage of this.#stages) session.events.emit('provision.stage', { ...stage })
      return opened
    } catch (thrown) {
      waiting.leave()
      this.#error = asBaxError(thrown)
      this.#status = this.#outcome
      this.#reach('failed')
      throw this.#error
    } finally {
      clearTimeout(timer)
      this.#settledAt = new Date()
      onSettled()
    }
  }

  /** Waits for `work` unless it is cancelled first; what comes too late is put away with `discard`. */
  async #until<T>(work: Promise<T>, discard: (late: T) => void): Promise<T> {
    const { signal } = this.#cancel
    try {
      return await withDeadline(work, { signal })
    } catch (error) {
      // Work that fails leaves nothing to discard.
      if (signal.aborted) work.then(discard, () => {})
      throw error
    }
  }

  #reach(stage: ProvisionStage): void {
    const last = this.#stages.at(-1)
    if (last && order.indexOf(stage) <= order.indexOf(last.stage)) return
    this.#stages.push({ stage, at: new Date().toISOString() })
  }
}

export const stopping = (): BaxError => new BaxError('shutting_down', 'the engine is shutting down')

export const tooManyWait = (): BaxError =>
  new BaxError('no_capacity', `${limits.overload.provisions} sessions wait for a browser already`, {
    retryAfterSecs: limits.overload.retryAfterSecs,
  })

const tooLate = (): BaxError =>
  new BaxError('no_capacity', `no browser had a free place within ${limits.provision.timeoutMs / 1000} s`, {
    hint: 'close sessions that are not needed, or allow more browsers',
    retryAfterSecs: 5,
  })
