/** The end of a handoff: how to wait for it, and as text for humans and language models. */
import type { HandoffRecord } from './handoffs.ts'
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { diffText, fullText } from '../text/changes.ts'

/** Waits with one request after another until a handoff has ended. */
export async function untilHandoffEnds(get: (waitSecs: number) => Promise<HandoffRecord>): Promise<HandoffRecord> {
  for (;;) {
    const handoff = await get(limits.handoffs.maxWaitSecs)
    if (handoff.ended_at !== null) return handoff
  }
}

/** Returns the error of a handoff that has ended without success; undefined otherwise. */
export function handoffFailure({ handoff_id, status, message }: HandoffRecord): BaxError | undefined {
  const extras = { details: { handoff_id, status, message } }
  if (status === 'declined')
    return new BaxError('rejected', `the person cannot do this${message === null ? '' : `: ${message}`}`, extras)
  if (status === 'expired') return new BaxError('timeout', 'nobody finished the handoff in time', extras)
  if (status === 'withdrawn') return new BaxError('cancelled', 'the handoff was withdrawn', extras)
  return undefined
}

/** Formats what has changed during a handoff. */
export function handoffText({ status, until, change }: HandoffRecord): string {
  const head = status === 'met' ? `the condition holds: ${until}` : 'the person has finished'
  if (!change) return head
  const { url, title, changes, full, snapshot, warning } = change
  return [
    head,
    `url: ${url}`,
    `title: ${title}`,
    ...(warning === undefined ? [] : [`warning: ${warning}`]),
    ...(full !== undefined && snapshot !== undefined ? [fullText[full], snapshot] : []),
    ...(changes && snapshot === undefined ? [diffText(changes)] : []),
  ].join('\n')
}
