/** Position in the event log at which the latest action of a session began, for waits after it. */
import type { EventLog } from '../../../core/events/events.ts'

const marks = new WeakMap<EventLog, number>()

/** Marks the start of an action: only later events belong to it. */
export function markActionSeq(events: EventLog): void {
  marks.set(events, events.lastSeq)
}

/** Returns the number of the last event before the latest action; 0 when there was none. */
export const actionSeq = (events: EventLog): number => marks.get(events) ?? 0
