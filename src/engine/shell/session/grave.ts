/** Shell sessions that another engine has had, as far as they are remembered. */
import { limits } from '../../../core/limits/limits.ts'
import type { ShellSession as SessionRecord } from '../../../core/shapes/shell/session.ts'
import type { GraveKind, Remembered } from '../../store/graves.ts'
import { closedError } from './endings.ts'

export const shellGraves: GraveKind<SessionRecord> = {
  folder: 'shell-sessions',
  keptMs: limits.shell.tombstoneMs,
  endOf: ({ stopped_at }) => stopped_at,
  lost: (session, at) => ({
    ...session,
    status: 'stopped',
    running_execs: 0,
    expires_at: at,
    stopped_at: at,
    stop_reason: 'engine_lost',
  }),
}

/** A shell session that another engine has had. */
export class ShellGrave {
  readonly id: string
  readonly owner: string | null
  readonly #session: SessionRecord

  constructor({ owner, session }: Remembered<SessionRecord>) {
    this.id = session.session_id
    this.owner = owner
    this.#session = session
  }

  get status(): SessionRecord['status'] {
    return this.#session.status
  }

  /** Since when it cannot be used, in milliseconds. */
  get endedAt(): number {
    return Date.parse(this.#session.stopped_at!)
  }

  record(): SessionRecord {
    return this.#session
  }

  /** Every use of it is refused. @throws BaxError `session_closed`. */
  assertReady(): never {
    throw closedError(this.id, this.status, this.#session.stop_reason!)
  }
}
