/** Facts that a session is created from, and callbacks for its end. */
import type { Log } from '../../../core/config/config.ts'
import type { CredentialStore } from '../../../core/stores.ts'
import type { SessionPlan } from '../create/plan.ts'
import type { SessionHost } from '../ports/session-host.ts'
import type { Session } from './session.ts'

export interface SessionFacts extends Pick<SessionPlan, 'owner' | 'input' | 'viewport' | 'allowed' | 'warnings'> {
  readonly host: SessionHost
  readonly workerId: string
  /** Whether files may be written outside the session's folder. */
  readonly writeAnywhere: boolean
  readonly credentials: Pick<CredentialStore, 'use'>
  /** Quota of the session's files, in bytes. */
  readonly downloadBytes: number
  /** Runs before the context closes, unless the session ended because its browser was lost. */
  readonly beforeClose: (session: Session) => Promise<void>
  /** Runs when the session has ended; its context may still be closing. */
  readonly onEnded: (session: Session) => void
  /** Runs when the context is closed and the files are removed. */
  readonly onGone: (session: Session) => void
  readonly log: Log
}
