/** Describes why shell sessions end. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ShellSession as SessionRecord, StopReason } from '../../../core/shapes/shell/session.ts'

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
