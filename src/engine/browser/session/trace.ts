/** Diagnostics of a session: its buffered events, its Playwright trace and its replay. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Call, Content } from '../../../core/operation/call.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Diagnostics } from '../../../core/engine.ts'
import type { SessionLog, TraceAction, TraceState } from '../../../core/shapes/events.ts'
import type { ProvisionRecord } from '../../../core/shapes/session.ts'
import { emitStages } from '../create/provision.ts'
import type { LiveSession } from '../ports/session.ts'

type Finder = (idOrName: string, caller: Caller) => LiveSession

export class SessionDiagnostics implements Diagnostics {
  readonly #live: Finder
  readonly #recorded: Finder

  /** `recorded` finds live sessions, and recorded ones that have ended. */
  constructor(live: Finder, recorded: Finder) {
    this.#live = live
    this.#recorded = recorded
  }

  async log(sessionId: string, { caller }: Call): Promise<SessionLog> {
    const session = this.#live(sessionId, caller)
    const events = session.events.since(0)
    return { session_id: session.sessionId, events, dropped: session.events.lastSeq - events.length }
  }

  async replay(sessionId: string, { caller }: Call): Promise<Content> {
    return (await import('../replay/file.ts')).replayFile(this.#recorded(sessionId, caller))
  }

  addStages(sessionId: string, stages: ProvisionRecord['stages'], { caller }: Pick<Call, 'caller'>): void {
    emitStages(this.#live(sessionId, caller), stages)
  }

  async trace(sessionId: string, action: TraceAction, { caller }: Call): Promise<TraceState> {
    const session = this.#live(sessionId, caller)
    const { sessionId: session_id, browserContext } = session
    const trace = (await import('../recording/trace.ts')).traceOf(browserContext)
    return session.use(async () => {
      if (action === 'start') await trace.start()
      else if (action === 'discard') await trace.stop()
      else return { session_id, tracing: false, ...(await inMemory((path) => trace.stop(path))) }
      return { session_id, tracing: action === 'start' }
    })
  }
}

/** Returns the trace that `write` writes, as base64: Playwright writes it only to a file. */
async function inMemory(
  write: (path: string) => Promise<Pick<TraceState, 'truncated'>>,
): Promise<Pick<TraceState, 'trace' | 'truncated'>> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-trace-'))
  try {
    const path = join(folder, 'trace.zip')
    const facts = await write(path)
    return { trace: (await readFile(path)).toString('base64'), ...facts }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
