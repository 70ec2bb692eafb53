/** Reports on stderr that commands wait because a person has control of their session. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { SessionRecord } from '../../core/shapes/session.ts'
import { type Io, note } from '../io.ts'

/** Delay before the first check: most commands finish sooner and need no second request. */
const firstMs = 500
const intervalMs = 1000

/** Waits for `work`; meanwhile polls the session, and reports on stderr if a person controls it. */
export async function withControlNotice<T>(
  io: Io,
  transport: Transport,
  session: string | undefined,
  work: Promise<T>,
): Promise<T> {
  if (session === undefined) return work
  const done = new AbortController()
  void watch(io, transport, session, done.signal)
  try {
    return await work
  } finally {
    done.abort()
  }
}

async function watch(io: Io, transport: Transport, session: string, signal: AbortSignal): Promise<void> {
  try {
    for (let ms = firstMs; ; ms = intervalMs) {
      await pause(ms, undefined, { signal })
      const record = await call(transport, 'GET /sessions/{session_id}', { session_id: session }, { signal })
      if (!(record as SessionRecord).controlled_by_person) continue
      return note(io, `waiting: a person has control of session ${session}`)
    }
  } catch {
    // The command is done, or its own error reports the problem.
  }
}
