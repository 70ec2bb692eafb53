/** Live stream of one session: its events, and screencast frames if selected. */
import type { Frame, StreamCall } from '../../../core/operation/call.ts'
import type { Sessions } from '../../../core/engine.ts'
import { castOf, type ScreencastFrame, type Screencast } from './screencast.ts'
import type { LiveSession } from '../ports/session.ts'

/** Event types that a reader receives even if it has not selected them. */
const always: ReadonlySet<string> = new Set(['lagged', 'session.closed'])

/** Streams the events of a session after `since`, or from now on. */
export function followSession(
  session: LiveSession,
  { since, types, hold }: Parameters<Sessions['follow']>[0],
  { signal }: StreamCall,
): AsyncIterable<Frame> {
  if (hold) signal.addEventListener('abort', session.hold(), { once: true })
  const { events } = session
  const start = Math.min(since ?? events.lastSeq, events.lastSeq)
  const all: AsyncGenerator<Frame> = events.follow(start, signal)
  if (types === undefined) return all
  const selected = only(all, new Set(types))
  return types.includes('frame') ? withFrames(selected, castOf(session), start) : selected
}

async function* only(events: AsyncIterable<Frame>, types: ReadonlySet<string>): AsyncGenerator<Frame> {
  for await (const event of events) if (types.has(event.type) || always.has(event.type)) yield event
}

/**
 * Inserts screencast frames between the events; a slow reader gets only the newest one. Frames are not stored and have
 * no number: a reader that resumes after one resumes after the event before it.
 */
async function* withFrames(events: AsyncGenerator<Frame>, cast: Screencast, start: number): AsyncGenerator<Frame> {
  let seq = start
  let latest: ScreencastFrame | undefined
  let wake = () => {}
  const stop = cast.watch((frame) => {
    latest = frame
    wake()
  })
  try {
    let event = events.next()
    for (;;) {
      const frameArrived = new Promise<undefined>((resolve) => {
        wake = () => resolve(undefined)
        if (latest) wake()
      })
      const next = await Promise.race([event, frameArrived])
      if (next?.done) return
      if (next) {
        seq = next.value.seq
        yield next.value
        event = events.next()
      } else {
        const data = latest!
        latest = undefined
        yield { seq, ts: new Date().toISOString(), type: 'frame', data } as Frame
      }
    }
  } finally {
    stop()
    await events.return(undefined)
  }
}
