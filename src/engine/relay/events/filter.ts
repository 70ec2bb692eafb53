/** Which buffered events a reader asked for. */
import type { RelayEvent, RelayEventKind } from '../../../core/shapes/relay.ts'

export interface EventFilter {
  readonly kinds?: readonly RelayEventKind[]
  readonly types?: readonly string[]
  readonly targetId?: string
  /** Level of console records: `error`, `warn`, … */
  readonly level?: string
  /** Says whether a record's URL is wanted. */
  readonly url?: (url: string) => boolean
  /** Part of the record's text, in any case. */
  readonly text?: string
}

/** Whether an event passes; one without the field that is filtered for does not. */
export function passes(event: RelayEvent, filter: EventFilter): boolean {
  const { kinds, types, targetId, level, url, text } = filter
  if (kinds && !kinds.includes(event.kind)) return false
  if (types && !types.includes(event.type)) return false
  if (targetId !== undefined && event.target_id !== targetId) return false
  if (level !== undefined && event.data['level'] !== level) return false
  if (url && !(typeof event.data['url'] === 'string' && url(event.data['url']))) return false
  return text === undefined || textOf(event).toLowerCase().includes(text.toLowerCase())
}

/** What of a record a person would search: its text, or all of its data. */
function textOf({ data }: RelayEvent): string {
  return typeof data['text'] === 'string' ? data['text'] : JSON.stringify(data)
}
