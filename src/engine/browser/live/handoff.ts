/** One handoff: a caller waits for a person to do something in a session. */
import type {
  HandoffChange,
  handoffEvents,
  HandoffInput,
  HandoffOutcome,
  HandoffRecord,
} from '../../../core/access/handoffs.ts'
import { newId } from '../../../core/ids.ts'
import type { Seen } from '../observe/last-observation.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { type ControlGuard, type ControlLock, controlLockOf } from './control-lock.ts'
import { changeSince } from './handoff-change.ts'
import { conditionOf, watchCondition } from './handoff-condition.ts'

interface HandoffFacts {
  readonly session: LiveSession
  readonly input: HandoffInput
  /** URL of the live view without its token. */
  readonly url: string
  /** The page before it. */
  readonly before: Seen | undefined
  readonly onChange: () => void
  /** Sends an event to the caller's server; reports why it cannot. */
  readonly notify: ((type: string, handoff: HandoffRecord) => Promise<string | undefined>) | undefined
  readonly warning: string | undefined
}

export class Handoff implements ControlGuard {
  readonly id = newId('hnd')
  readonly #facts: HandoffFacts
  readonly #lock: ControlLock
  readonly #createdAt = new Date()
  readonly #expiresAt: Date
  readonly #stop: (() => void)[]
  /** Token that opens the view once. */
  #token: string
  #opened = false
  #active = false
  /** Whether the control lock has called `begin`, and so will call `end`. */
  #begun = false
  #outcome: { readonly status: HandoffOutcome; readonly message: string | null } | undefined
  #change: HandoffChange | null = null
  #endedAt: Date | null = null
  #warning: string | undefined
  /** Requests to the caller's server, one after the other. */
  #notified: Promise<unknown> = Promise.resolve()
  #resolve = () => {}
  /** Resolves when it has ended and the page was observed. */
  readonly settled = new Promise<void>((resolve) => (this.#resolve = resolve))

  /** @throws BaxError `rate_limited` when the session has too many tokens, `invalid_request` for the condition */
  constructor(facts: HandoffFacts) {
    this.#facts = facts
    const { session, input } = facts
    const condition = input.until === undefined ? undefined : conditionOf(input.until)
    this.#lock = controlLockOf(session)
    this.#warning = facts.warning
    this.#expiresAt = new Date(this.#createdAt.getTime() + input.timeout_secs * 1000)
    this.#token = this.#addToken()
    this.#lock.guard = this
    const timer = setTimeout(() => this.finish('expired'), input.timeout_secs * 1000)
    const onEnded = () => this.finish('expired')
    session.ended.addEventListener('abort', onEnded, { once: true })
    this.#stop = [
      session.hold(),
      () => clearTimeout(timer),
      () => session.ended.removeEventListener('abort', onEnded),
      ...(condition ? [watchCondition(session, condition, () => this.finish('met'))] : []),
    ]
    const { reason, until = null } = input
    this.#emit('handoff.requested', { reason, until, expires_at: this.#expiresAt.toISOString() })
  }

  /** Whether a person can still finish it. */
  get open(): boolean {
    return this.#outcome === undefined
  }

  /** How it has ended; undefined before. */
  get outcome(): HandoffOutcome | undefined {
    return this.#outcome?.status
  }

  get record(): HandoffRecord {
    const { session, input, url } = this.#facts
    const { status, message = null } = (this.#endedAt && this.#outcome) || {}
    return {
      handoff_id: this.id,
      session_id: session.sessionId,
      session_name: session.name,
      reason: input.reason,
      until: input.until ?? null,
      status: status ?? (this.#active ? 'active' : 'waiting'),
      control_url: this.open && !this.#opened ? `${url}?token=${this.#token}` : null,
      message,
      change: this.#change,
      created_at: this.#createdAt.toISOString(),
      expires_at: this.#expiresAt.toISOString(),
      ended_at: this.#endedAt?.toISOString() ?? null,
      ...(this.#warning !== undefined && { warning: this.#warning }),
    }
  }

  /**
   * Exchanges the token that opened a view for the next one, with which the same page can be opened again; returns
   * undefined when it was used before.
   */
  redeem(token: string): string | undefined {
    if (!this.open || token !== this.#token) return undefined
    this.#facts.session.tokens.revoke(token)
    this.#token = this.#addToken()
    this.#opened = true
    return this.#token
  }

  /** Starts the time in which a person has control: what they type is reported nowhere. */
  async begin(): Promise<void> {
    this.#begun = true
    try {
      await privacyOf(this.#facts.session.browserContext).begin()
    } catch (error) {
      this.#begun = false
      if (!this.open) this.#settle()
      throw error
    }
    // It may have ended meanwhile.
    if (!this.open) return
    this.#active = true
    this.#emit('handoff.taken')
  }

  /** Ends that time. A person who left, or did nothing for long, may come back until the handoff expires. */
  async end(reason: 'returned' | 'left' | 'idle'): Promise<void> {
    if (reason === 'returned' && this.open) this.#close('returned', null)
    try {
      if (!this.open) await this.#observe()
    } finally {
      this.#active = false
      this.#begun = false
      privacyOf(this.#facts.session.browserContext).end()
    }
  }

  /** Ends the handoff unless it has ended. A person who has control loses it. */
  finish(status: HandoffOutcome, message: string | null = null): void {
    if (!this.open) return
    this.#lock.revoke()
    this.#close(status, message)
    if (this.#begun) return
    const { session } = this.#facts
    if (status !== 'returned' && status !== 'met') return this.#settle()
    const observe = session.use(() => session.queue.run(() => this.#observe(), session.ended))
    // The session has ended, or too many commands wait for it.
    observe.catch(() => this.#settle())
  }

  #close(status: HandoffOutcome, message: string | null): void {
    const { session, onChange } = this.#facts
    this.#outcome = { status, message }
    if (this.#lock.guard === this) this.#lock.guard = undefined
    for (const stop of this.#stop) stop()
    session.tokens.revoke(this.#token)
    onChange()
  }

  async #observe(): Promise<void> {
    const { session, before } = this.#facts
    this.#change = await changeSince(session, before, session.ended)
    this.#settle()
  }

  #settle(): void {
    if (this.#endedAt) return
    const { status, message } = this.#outcome!
    this.#endedAt = new Date()
    if (status === 'returned' || status === 'met') this.#emit('handoff.returned', { status })
    else this.#emit(`handoff.${status}`, status === 'declined' ? { message } : {})
    this.#resolve()
  }

  #emit(type: keyof typeof handoffEvents, data: object = {}): void {
    const { session, notify } = this.#facts
    session.events.emit(type, { handoff_id: this.id, ...data })
    if (!notify) return
    const { record } = this
    this.#notified = this.#notified.then(async () => {
      const failure = await notify(type, record)
      if (failure !== undefined) this.#warning = [this.#facts.warning, `notify: ${failure}`].filter(Boolean).join('; ')
    })
  }

  #addToken(): string {
    return this.#facts.session.tokens.add({ control: true, cdp: false, handoff: this.id })
  }
}
