/** Dialogs that opened during a command, for its result. */
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CommandResult } from '../../../core/shapes/commands.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import type { AnsweredBy, CommandDialog } from '../../../core/shapes/dialogs.ts'

/** Returns the fields of a result for the dialogs since an event; none without dialogs. */
export async function dialogsSince(
  { dialogs, events }: BatchTarget,
  seq: number,
): Promise<Pick<CommandResult, 'dialogs' | 'dialogs_omitted'>> {
  await dialogs.settled()
  return dialogsIn(events.since(seq))
}

function dialogsIn(events: readonly SessionEvent[]): Pick<CommandResult, 'dialogs' | 'dialogs_omitted'> {
  const dialogs: CommandDialog[] = []
  /** Positions of the open dialogs by tab: each tab can have one. */
  const open = new Map<unknown, number>()
  for (const { type, data } of events) {
    if (type === 'dialog.opened') {
      open.set(data['tab_id'], dialogs.length)
      dialogs.push({ type: data['type'] as CommandDialog['type'], message: String(data['message']), answer: 'open' })
    }
    const at = type === 'dialog.closed' ? open.get(data['tab_id']) : undefined
    if (at === undefined) continue
    open.delete(data['tab_id'])
    const answer = data['accepted'] === true ? 'accepted' : 'dismissed'
    dialogs[at] = { ...dialogs[at]!, answer, answered_by: data['answered_by'] as AnsweredBy }
  }
  if (dialogs.length === 0) return {}
  const omitted = dialogs.length - limits.dialog.perResult
  return { dialogs: dialogs.slice(0, limits.dialog.perResult), ...(omitted > 0 && { dialogs_omitted: omitted }) }
}
