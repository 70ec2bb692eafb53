/** The approvals of a session, as commands, downloads and CDP calls use them. */
import type { Frame, Page } from 'playwright'
import type { ActionKind, ApprovalDecided, ApprovalRecord } from '../../../core/access/approvals.ts'
import type { PausableTimeout } from '../../../core/process/pausable-timeout.ts'

/** An action to approve. */
export interface Action {
  readonly kind: ActionKind
  /** Expression, method or URL. */
  readonly summary: string
  /** URL of the page. */
  readonly url: string
}

/** The command, and the call, that caused an action. */
export interface Cause {
  /** The command, or what takes its place. */
  readonly command: string
  /** Context of its batch. */
  readonly context?: Record<string, unknown> | undefined
}

/** The approvals of one running command. */
export interface RunningApprovals {
  /**
   * Runs the work of the command, and waits for the approvals that it has caused. `arrive` waits until the navigations
   * and downloads that it has started are known, or its signal is aborted.
   * @throws the error of the work, or of an approval
   */
  through<T>(work: () => Promise<T>, arrive: (asked: AbortSignal) => Promise<unknown>): Promise<T | undefined>
  end(): void
}

/** The document that code was approved for. */
export interface ApprovedDocument {
  /** @throws BaxError `navigation_aborted` when the frame shows another document, or another URL of the same document. */
  assertShownIn(frame: Frame): void
}

export interface ApprovalControl {
  /** Longest time that one action waits. */
  readonly timeoutMs: number
  /** Actions that wait, oldest first. */
  readonly list: ApprovalRecord[]
  confirms(kind: ActionKind): boolean
  /** Begins a command: the actions that it causes wait with it. */
  begin(cause: Cause, signal: AbortSignal): RunningApprovals
  /** Waits for the approval of an action. @throws BaxError: the action must not be executed then. */
  ask(action: Action, signals?: readonly AbortSignal[]): Promise<void>
  /** Returns the input of the gate of a command; undefined if code needs no approval. */
  gate(cause: Cause, signal: AbortSignal, clock: PausableTimeout): GateFacts | undefined
  /** Waits for the approval of code that is about to run in a frame. @throws BaxError */
  askForCode(cause: Cause, code: string, frame: Frame, signals: readonly AbortSignal[]): Promise<ApprovedDocument>
  /** Waits for the approval of a URL that may contain code, where code needs one. @throws BaxError */
  askForUrl(command: string, url: string, page: Page, signal?: AbortSignal): Promise<void>
  /** @throws BaxError `approval_not_found` */
  decide(id: string, approved: boolean): ApprovalDecided
}

/** Input of the gate of one command. */
export interface GateFacts {
  readonly approvals: Pick<ApprovalControl, 'askForCode'>
  readonly cause: Cause
  readonly signal: AbortSignal
  /** Clock of the command, which stops while a person is asked. */
  readonly clock: PausableTimeout
}
