/** Diagnostics of a session: its buffered events and its Playwright trace. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Call } from '../../../core/operation/call.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Diagnostics } from '../../../core/engine.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionLog, TraceAction, TraceState } from '../../../core/shapes/events.ts'
import type { Session } from './session.ts'

export class SessionDiagnostics implements Diagnostics {
  readonly #live: (idOrName: string, caller: Caller) => Session
  /** Sessions that are being traced; a trace is discarded when its session ends. */
  readonly #tracing = new WeakSet<Session>()

  constructor(live: (idOrName: string, caller: Caller) => Session) {
    this.#live = live
  }

  async log(sessionId: string, { caller }: Call): Promise<SessionLog> {
    const session = this.#live(sessionId, caller)
    const events = session.events.since(0)
    return { session_id: session.sessionId, events, dropped: session.events.lastSeq - events.length }
  }

  async trace(sessionId: string, action: TraceAction, { caller }: Call): Promise<TraceState> {
    const session = this.#live(sessionId, caller)
    const { sessionId: session_id } = session
    if (action === 'start') {
      await this.#start(session)
      return { session_id, tracing: true }
    }
    if (!this.#tracing.has(session)) {
      throw new BaxError('conflict', 'the session is not being traced', { hint: 'start a trace first' })
    }
    this.#tracing.delete(session)
    return { session_id, tracing: false, ...(await stop(session, action)) }
  }

  async #start(session: Session): Promise<void> {
    if (this.#tracing.has(session)) throw new BaxError('conflict', 'the session is already being traced')
    this.#tracing.add(session)
    try {
      await session.browserContext.tracing.start({ screenshots: true, snapshots: true })
    } catch (error) {
      this.#tracing.delete(session)
      throw error
    }
  }
}

/** Stops the trace and returns its bytes; Playwright writes a trace only to a file. */
async function stop({ browserContext: { tracing } }: Session, action: 'stop' | 'discard'): Promise<{ trace?: string }> {
  if (action === 'discard') {
    await tracing.stop()
    return {}
  }
  const folder = await mkdtemp(join(tmpdir(), 'bax-trace-'))
  try {
    const path = join(folder, 'trace.zip')
    await tracing.stop({ path })
    return { trace: (await readFile(path)).toString('base64') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
