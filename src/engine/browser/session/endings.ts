/** Why sessions end, and what callers are told of it. */
import { BaxError } from '../../../core/errors/errors.ts'

export type EndReason = 'deleted' | 'idle_timeout' | 'lifetime' | 'worker_lost' | 'crashed' | 'engine_closed'

const sentences: Record<EndReason, string> = {
  deleted: 'it was closed',
  idle_timeout: 'it was not used for its idle time-out',
  lifetime: 'its time was over',
  worker_lost: 'its browser crashed or was killed',
  crashed: 'its browser did not answer any more and was killed',
  engine_closed: 'its engine was stopped',
}

/** Whether the session ended because its browser did. */
export const isBrowserLoss = (reason: EndReason): boolean => reason === 'worker_lost' || reason === 'crashed'

/** The failure of a command that a session's end cut off. */
export function endedError(sessionId: string, reason: EndReason): BaxError {
  if (isBrowserLoss(reason)) {
    return new BaxError('worker_lost', `session ${sessionId} has ended: ${sentences[reason]}`, {
      hint: 'create a new session; the old one cannot be recovered',
      details: { reason },
    })
  }
  return closedError(sessionId, reason)
}

/** The answer to a call for a session that has ended. */
export function closedError(sessionId: string, reason: EndReason): BaxError {
  return new BaxError('session_closed', `session ${sessionId} has ended: ${sentences[reason]}`, {
    hint: 'create a new session',
    details: { reason },
  })
}
