/** The live stream of one session: its events, and pictures for those who ask. */
import type { Frame, StreamCall } from '../../../core/operation/stream.ts'
import { castOf, type Picture, type Screencast } from './screencast.ts'
import { Grave } from '../session/tombstone.ts'
import type { Known } from '../session/registry.ts'

export interface FollowRequest {
  readonly session_id: string
  readonly token?: string
  readonly since?: number
  readonly types?: readonly string[]
}

/** What a reader has to know whatever else it asked for. */
const always: ReadonlySet<string> = new Set(['lagged', 'session.closed'])

/** Events of a session from a number on, or from now on; null when it has ended. */
export function followSession(
  session: Known,
  request: FollowRequest,
  { signal }: StreamCall,
): AsyncIterable<Frame> | null {
  const { since, types } = request
  if (session instanceof Grave || session.endedAt !== null) return null
  const { events } = session
  const start = Math.min(since ?? events.lastSeq, events.lastSeq)
  const all: AsyncGenerator<Frame> = events.follow(start, signal)
  if (types === undefined) return all
  const wanted = only(all, new Set(types))
  return types.includes('frame') ? withPictures(wanted, castOf(session), start) : wanted
}

async function* only(frames: AsyncIterable<Frame>, types: ReadonlySet<string>): AsyncGenerator<Frame> {
  for await (const frame of frames) if (types.has(frame.type) || always.has(frame.type)) yield frame
}

/**
 * Puts pictures between the events; a reader that is slow gets the newest one only. Pictures are not kept, so they take
 * no number: resuming after one resumes after the event before it.
 */
async function* withPictures(frames: AsyncGenerator<Frame>, cast: Screencast, start: number): AsyncGenerator<Frame> {
  let seq = start
  let latest: Picture | undefined
  let wake = () => {}
  const stop = cast.watch((picture) => {
    latest = picture
    wake()
  })
  try {
    let event = frames.next()
    for (;;) {
      const arrived = new Promise<undefined>((resolve) => {
        wake = () => resolve(undefined)
        if (latest) wake()
      })
      const first = await Promise.race([event, arrived])
      if (first?.done) return
      if (first) {
        seq = first.value.seq
        yield first.value
        event = frames.next()
      } else {
        const data = latest!
        latest = undefined
        yield { seq, ts: new Date().toISOString(), type: 'frame', data } as Frame
      }
    }
  } finally {
    stop()
    await frames.return(undefined)
  }
}
