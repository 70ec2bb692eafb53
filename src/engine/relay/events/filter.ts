/** Filters buffered events. */
import type { RelayEvent, RelayEventKind } from '../../../core/shapes/relay.ts'

export interface EventFilter {
  readonly kinds?: readonly RelayEventKind[]
  readonly types?: readonly string[]
  readonly targetId?: string
  /** Level of console events: `error`, `warn`, … */
  readonly level?: string
  /** Whether a URL matches. */
  readonly url?: (url: string) => boolean
  /** Text to find, ignoring case. */
  readonly text?: string
}

/** Returns whether an event matches; events without a filtered field do not. */
export function passes(event: RelayEvent, filter: EventFilter): boolean {
  const { kinds, types, targetId, level, url, text } = filter
  if (kinds && !kinds.includes(event.kind)) return false
  if (types && !types.includes(event.type)) return false
  if (targetId !== undefined && event.target_id !== targetId) return false
  if (level !== undefined && event.data['level'] !== level) return false
  if (url && !(typeof event.data['url'] === 'string' && url(event.data['url']))) return false
  return text === undefined || textOf(event).toLowerCase().includes(text.toLowerCase())
}

/** Returns the text of an event, or all of its data as JSON. */
function textOf({ data }: RelayEvent): string {
  return typeof data['text'] === 'string' ? data['text'] : JSON.stringify(data)
}
