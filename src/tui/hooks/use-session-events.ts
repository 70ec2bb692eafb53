/** Follows the events of a session, beginning with the stored ones. */
import { useState } from 'react'
import type { Event } from '../../core/events/event-line.ts'
import { limits } from '../../core/limits/limits.ts'
import { useFrames } from './use-frames.ts'

const none = {
  events: [] as readonly Event[],
  /** Why the session has ended; null while it is open. */
  closed: null as string | null,
  /** Number that grows with possible changes of the page. */
  changes: 0,
}

/** Events after which the page may have changed. */
const changing = new Set(['page.navigated', 'page.loaded', 'command.finished', 'tab.opened', 'tab.closed'])

export function useSessionEvents(session_id: string): typeof none {
  const [state, setState] = useState(none)
  const { error } = useFrames({
    stream: 'sessionEvents',
    input: { session_id },
    since: 0,
    onFrames: (frames) => {
      const end = frames.find((frame) => frame.type === 'session.closed')
      setState(({ events, closed, changes }) => ({
        events: [...events, ...frames].slice(-limits.events.ring),
        closed: end ? end.data.reason : closed,
        changes: changes + frames.filter(({ type }) => changing.has(type)).length,
      }))
    },
  })
  const isGone = error?.code === 'session_not_found' || error?.code === 'session_closed'
  return isGone && state.closed === null ? { ...state, closed: error.message } : state
}
