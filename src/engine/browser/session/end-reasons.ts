/** Reasons why sessions end, and the errors that report them. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { EndReason } from '../ports/session.ts'

const explanations: Record<EndReason, string> = {
  deleted: 'it was closed',
  idle_timeout: 'it reached its idle timeout',
  lifetime: 'it reached its maximum lifetime',
  worker_lost: 'its browser crashed or was killed',
  crashed: 'its browser stopped answering and was killed',
  engine_closed: 'its engine was stopped',
}

/** Returns whether the session ended because its browser did. */
export const isBrowserLoss = (reason: EndReason): boolean => reason === 'worker_lost' || reason === 'crashed'

/** Builds the error for a command that the end of its session interrupted. */
export function endedError(sessionId: string, reason: EndReason): BaxError {
  if (isBrowserLoss(reason)) {
    return new BaxError('worker_lost', `session ${sessionId} has ended: ${explanations[reason]}`, {
      hint: 'create a new session; the old one cannot be recovered',
      details: { reason },
    })
  }
  return closedError(sessionId, reason)
}

/** Builds the error for a call on a session that has ended; `endedAt` is set if it ended before the call. */
export function closedError(sessionId: string, reason: EndReason, endedAt?: Date): BaxError {
  return new BaxError('session_closed', `session ${sessionId} has ended: ${explanations[reason]}`, {
    hint: 'create a new session',
    details: { reason, ...(endedAt && { ended_at: endedAt.toISOString() }) },
  })
}
