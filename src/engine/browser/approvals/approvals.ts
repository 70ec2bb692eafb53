/** Actions of a session that wait until a person approves or rejects them. */
import type { BrowserContext, Frame, Page } from 'playwright'
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Approvals as EngineApprovals } from '../../../core/engine.ts'
import type { EventLog } from '../../../core/events/events.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import { isCodeUrl } from '../../../core/net/urls.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { PausableTimeout } from '../../../core/process/pausable-timeout.ts'
import { type ActionKind, type ApprovalDecided, type ApprovalRecord } from '../../../core/access/approvals.ts'
import { approvalNotFound } from '../../../core/access/approval-not-found.ts'
import type { SessionInput, SessionRecord } from '../../../core/shapes/session.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import { privacyOf } from '../privacy/privacy.ts'
import type { Action, ApprovalControl, Cause, GateFacts } from '../ports/approvals.ts'
import type { LiveSession, LiveSessions } from '../ports/session.ts'
import { CommandApprovals } from './command-approvals.ts'
import { ShownDocument } from './shown-document.ts'

interface ApprovalFacts {
  readonly browserContext: BrowserContext
  readonly sessionId: string
  readonly sessionName: string | null
  readonly kinds: readonly ActionKind[]
  readonly timeoutMs: number
  readonly events: EventLog
  /** Aborted when the session ends. */
  readonly ended: AbortSignal
}

interface Waiting {
  readonly record: ApprovalRecord
  decide(approved: boolean): void
}

type Outcome = ApprovalDecided['decision']

export class Approvals implements ApprovalControl {
  readonly #facts: ApprovalFacts
  readonly #waiting = new Map<string, Waiting>()
  #running: CommandApprovals | undefined

  constructor(facts: ApprovalFacts) {
    this.#facts = facts
  }

  get timeoutMs(): number {
    return this.#facts.timeoutMs
  }

  confirms(kind: ActionKind): boolean {
    return this.#facts.kinds.includes(kind)
  }

  /** Fields of the record of the session. */
  get facts(): Pick<SessionRecord, 'confirm' | 'confirm_timeout_secs' | 'approvals_waiting'> {
    const { kinds, timeoutMs } = this.#facts
    return { confirm: [...kinds], confirm_timeout_secs: timeoutMs / 1000, approvals_waiting: this.#waiting.size }
  }

  get list(): ApprovalRecord[] {
    return [...this.#waiting.values()].map(({ record }) => this.#reported(record))
  }

  begin(cause: Cause, signal: AbortSignal): CommandApprovals {
    // The answer to a dialog runs during the command that the dialog blocks.
    const before = this.#running
    this.#running = new CommandApprovals(cause, signal, () => (this.#running = before))
    return this.#running
  }

  /**
   * Waits for the approval of an action, which belongs to the running command if there is one.
   * @throws BaxError `rejected`, `confirmation_timeout`, `too_many_pending`, or the reason of a signal. The action must
   * not be executed then.
   */
  ask(action: Action, signals: readonly AbortSignal[] = []): Promise<void> {
    const running = this.#running
    const asked = this.#ask(action, running?.cause, running ? [running.signal, ...signals] : signals)
    running?.add(asked)
    return asked
  }

  gate(cause: Cause, signal: AbortSignal, clock: PausableTimeout): GateFacts | undefined {
    return this.confirms('eval') ? { approvals: this, cause, signal, clock } : undefined
  }

  /**
   * Waits for the approval of code that is about to run in a frame; returns the document that it is for.
   * @throws BaxError as `ask`, and `navigation_aborted` when the frame shows another document meanwhile
   */
  async askForCode(cause: Cause, code: string, frame: Frame, signals: readonly AbortSignal[]): Promise<ShownDocument> {
    const shown = new ShownDocument(frame)
    const { left, release } = shown.watch()
    try {
      await this.#ask({ kind: 'eval', summary: code, url: shown.url }, cause, [...signals, left])
    } finally {
      release()
    }
    shown.assertShownIn(frame)
    return shown
  }

  /** Waits for the approval of a URL that may contain code, where code needs one. @throws BaxError as `askForCode` */
  async askForUrl(command: string, url: string, page: Page, signal?: AbortSignal): Promise<void> {
    if (this.confirms('eval') && isCodeUrl(url))
      await this.askForCode({ command }, url, page.mainFrame(), signal ? [signal] : [])
  }

  decide(id: string, approved: boolean): ApprovalDecided {
    const waiting = this.#waiting.get(id)
    if (!waiting) throw approvalNotFound(id)
    waiting.decide(approved)
    const { approval_id, kind, command, summary, url, session_id } = this.#reported(waiting.record)
    return { approval_id, kind, command, summary, url, session_id, decision: approved ? 'approved' : 'rejected' }
  }

  async #ask({ kind, summary, url }: Action, cause: Cause | undefined, signals: readonly AbortSignal[]): Promise<void> {
    const { waiting: most } = limits.approvals
    if (this.#waiting.size >= most)
      throw new BaxError('too_many_pending', `not executed: ${most} actions already wait for approval`)
    const { timeoutMs, sessionId, sessionName, events, ended } = this.#facts
    const now = Date.now()
    const action = { approval_id: newId('apr'), kind, command: cause?.command ?? null, summary: shown(summary), url }
    const record: ApprovalRecord = {
      ...action,
      session_id: sessionId,
      session_name: sessionName,
      ...(cause?.context && { context: cause.context }),
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + timeoutMs).toISOString(),
    }
    const decided = new Promise<boolean>((decide) => this.#waiting.set(action.approval_id, { record, decide }))
    events.emit('approval.requested', { ...action, expires_at: record.expires_at })
    let decision: Outcome = 'cancelled'
    try {
      const late = () =>
        new BaxError(
          'confirmation_timeout',
          `not executed: nobody approved ${kind} within ${timeoutMs / 1000} s`,
          this.#extras(record),
        )
      const approved = await withDeadline(decided, { ms: timeoutMs, error: late, signal: [ended, ...signals] })
      decision = approved ? 'approved' : 'rejected'
    } catch (error) {
      if (error instanceof BaxError && error.code === 'confirmation_timeout') decision = 'expired'
      throw error
    } finally {
      this.#waiting.delete(action.approval_id)
      events.emit('approval.decided', { ...action, decision })
    }
    if (decision === 'rejected')
      throw new BaxError('rejected', `not executed: a person rejected ${kind}`, this.#extras(record))
  }

  /** Returns a record without credentials and what a person does during a handoff. */
  #reported(record: ApprovalRecord): ApprovalRecord {
    const { browserContext } = this.#facts
    const privacy = privacyOf(browserContext)
    const { summary, url } = record
    return secretsOf(browserContext).hide({ ...record, summary: privacy.shown(summary), url: privacy.shown(url) })
  }

  #extras = ({ approval_id, kind }: ApprovalRecord) => ({ details: { approval_id, kind, executed: false } })
}

/** Invisible characters that can hide or reorder text: all control characters but line breaks and tabs. */
const deceptive = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Returns a text that is safe to show, shortened to the limit with a note of how much is missing. */
function shown(text: string): string {
  const { summaryChars } = limits.approvals
  const rest = text.length - summaryChars
  const part = text.slice(0, summaryChars).replace(deceptive, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
  return rest > 0 ? `${part}… (${rest} more characters)` : part
}

type ApprovalSession = Pick<LiveSession, 'browserContext' | 'sessionId' | 'name' | 'input' | 'events' | 'ended'>

/** Creates the approvals of a session; undefined for a session without `confirm`. */
export function approvalsFor({
  browserContext,
  sessionId,
  name: sessionName,
  input,
  events,
  ended,
}: ApprovalSession): Approvals | undefined {
  const { confirm: kinds, confirm_timeout_secs } = input
  return (
    kinds &&
    new Approvals({
      browserContext,
      sessionId,
      sessionName,
      kinds,
      timeoutMs: confirm_timeout_secs * 1000,
      events,
      ended,
    })
  )
}

/** Returns the interface to the approvals of all sessions. */
export const approvalsOf = (sessions: LiveSessions): EngineApprovals => ({
  list: async (call) => sessions.seenBy(call).flatMap(({ approvals }) => approvals?.list ?? []),
  decide: async (id, approvalId, approved, { caller }) => {
    const { approvals, sessionId } = sessions.live(id, caller)
    if (!approvals) throw approvalNotFound(approvalId)
    return { ...approvals.decide(approvalId, approved), session_id: sessionId }
  },
})

/** @throws BaxError `unsupported` in an embedded engine, which no other command can reach. */
export function assertCanHold({ confirm }: SessionInput, home: EngineConfig['home']): void {
  if (confirm && home === 'embedded')
    throw new BaxError('unsupported', 'nobody can approve the actions of an engine that ends with its command', {
      hint: 'use an engine that outlives the command: run "bax session create" first, or "bax serve"',
    })
}
