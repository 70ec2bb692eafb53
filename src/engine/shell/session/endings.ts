/** Why shell sessions end, and what callers are told of it. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ShellSession as SessionRecord, StopReason } from '../../../core/shapes/shell/session.ts'

const sentences: Record<StopReason, string> = {
  deleted: 'it was deleted',
  idle_timeout: 'nothing was done with it for too long',
  max_lifetime: 'its lifetime was over',
  engine_shutdown: 'its engine has ended',
  engine_lost: 'its engine has died',
  image_error: 'no container could be made for it',
  container_died: 'its container has died',
}

/** The answer to a call for a session that has ended. */
export function closedError(id: string, status: SessionRecord['status'], reason: StopReason): BaxError {
  return new BaxError('session_closed', `the shell session ${id} has ended: ${sentences[reason]}`, {
    details: { status, stop_reason: reason, reason },
    hint: 'make a new one with POST /shell/sessions (bax shell create)',
  })
}
