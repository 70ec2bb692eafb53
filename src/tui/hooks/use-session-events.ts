/** The events of a session, kept ones first. */
import { useState } from 'react'
import type { Event } from '../../core/events/event-line.ts'
import { limits } from '../../core/limits/limits.ts'
import { useFrames } from './use-frames.ts'

export interface SessionEvents {
  readonly events: readonly Event[]
  /** Why the session is no more; null while it lives. */
  readonly closed: string | null
  /** Grows with everything that may have changed the page. */
  readonly changes: number
}

const none: SessionEvents = { events: [], closed: null, changes: 0 }

/** What happens on a page before it looks different. */
const changing = new Set(['page.navigated', 'page.loaded', 'command.finished', 'tab.opened', 'tab.closed'])

export function useSessionEvents(session_id: string): SessionEvents {
  const [state, setState] = useState(none)
  const { error } = useFrames({
    stream: 'sessionEvents',
    input: { session_id },
    since: 0,
    onFrames: (frames) => {
      const fresh = frames as readonly Event[]
      const end = fresh.find(({ type }) => type === 'session.closed')
      setState(({ events, closed, changes }) => ({
        events: [...events, ...fresh].slice(-limits.events.ring),
        closed: end ? String(end.data['reason']) : closed,
        changes: changes + fresh.filter(({ type }) => changing.has(type)).length,
      }))
    },
  })
  const isGone = error?.code === 'session_not_found' || error?.code === 'session_closed'
  return isGone && state.closed === null ? { ...state, closed: error.message } : state
}
