/** Tombstones: records of the shell sessions of earlier engines. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ShellSession as SessionRecord, StopReason } from '../../../core/shapes/shell/session.ts'
import type { TombstoneKind, StoredTombstone } from '../../store/tombstones.ts'

export const shellTombstones: TombstoneKind<SessionRecord> = {
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

/** Shell session of an earlier engine. */
export class ShellTombstone {
  readonly id: string
  readonly owner: string | null
  readonly status: SessionRecord['status']
  /** When it ended, in milliseconds since 1970. */
  readonly endedAt: number
  readonly #session: SessionRecord

  constructor({ owner, session }: StoredTombstone<SessionRecord>) {
    this.id = session.session_id
    this.owner = owner
    this.status = session.status
    this.endedAt = Date.parse(session.stopped_at!)
    this.#session = session
  }

  record(): SessionRecord {
    return this.#session
  }

  /** @throws BaxError `session_closed` always. */
  assertReady(): never {
    throw closedError(this.id, this.status, this.#session.stop_reason!)
  }
}

/** Why shell sessions end. */
const descriptions: Record<StopReason, string> = {
  deleted: 'it was deleted',
  idle_timeout: 'it was idle for too long',
  max_lifetime: 'it reached its maximum lifetime',
  engine_shutdown: 'its engine was shut down',
  engine_lost: 'its engine was lost',
  image_error: 'its container could not be created',
  container_died: 'its container exited or was paused',
}

/** Returns the error of a call for a session that has ended. */
export function closedError(id: string, status: SessionRecord['status'], reason: StopReason): BaxError {
  return new BaxError('session_closed', `the shell session ${id} has ended: ${descriptions[reason]}`, {
    details: { status, stop_reason: reason, reason },
    hint: 'create a new one with POST /shell/sessions (bax shell create)',
  })
}
