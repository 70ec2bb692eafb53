/** The end of a handoff as an error, and as text for humans and language models. */
import type { HandoffRecord } from './handoffs.ts'
import { BaxError } from '../errors/errors.ts'
import { diffText, fullText } from '../text/changes.ts'

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
export const handoffText = (handoff: HandoffRecord): string =>
  [handoffHead(handoff), handoffPage(handoff)].filter(Boolean).join('\n')

/** Formats how a handoff has ended, without text of the page. */
export const handoffHead = ({ status, until }: HandoffRecord): string =>
  status === 'met' ? `the condition holds: ${until}` : 'the person has finished'

/** Formats the page after a handoff; an empty text before its end. */
export function handoffPage({ change }: HandoffRecord): string {
  if (!change) return ''
  const { url, title, changes, full, snapshot, warning } = change
  return [
    `url: ${url}`,
    `title: ${title}`,
    ...(warning === undefined ? [] : [`warning: ${warning}`]),
    ...(full !== undefined && snapshot !== undefined ? [fullText[full], snapshot] : []),
    ...(changes && snapshot === undefined ? [diffText(changes)] : []),
  ].join('\n')
}
