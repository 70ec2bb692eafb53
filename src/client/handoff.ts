/** Waits for the end of a handoff. */
import type { HandoffRecord } from '../core/access/handoffs.ts'
import { limits } from '../core/limits/limits.ts'
import type { Calls } from './calls.ts'

/**
 * Waits with one request after another until a handoff has ended. Withdraws it when the signal is aborted, so that nobody
 * does the work in vain.
 */
export async function untilHandoffEnds(
  { ask }: Pick<Calls, 'ask'>,
  { session_id, handoff_id }: HandoffRecord,
  signal: AbortSignal | undefined,
): Promise<HandoffRecord> {
  const ids = { session_id, handoff_id }
  try {
    for (;;) {
      const handoff = await ask('getHandoff', { ...ids, wait_secs: limits.handoffs.maxWaitSecs }, { signal })
      if (handoff.ended_at !== null) return handoff
    }
  } catch (error) {
    // The error of the interruption is the one to report.
    if (signal?.aborted) await ask('withdrawHandoff', ids, {}).catch(() => {})
    throw error
  }
}
