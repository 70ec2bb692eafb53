/** Sessions that another engine has had, as far as they are remembered. */
import { limits } from '../../core/limits.ts'
import type { SessionRecord } from '../../core/shapes/session.ts'
import type { GraveKind, Remembered } from '../store/graves.ts'
import type { EndReason } from './endings.ts'
import type { Bases } from './session.ts'

/** A session as it is told of, without the addresses that depend on who asks. */
export type SessionSketch = Omit<SessionRecord, 'sse_url' | 'cdp_url' | 'live_view_url'>

export const browserGraves: GraveKind<SessionSketch> = {
  folder: 'sessions',
  keptMs: limits.session.tombstoneMs,
  endOf: ({ ended_at }) => ended_at,
  lost: (session, at) => ({
    ...session,
    status: 'failed',
    tabs: 0,
    ended_at: at,
    end_reason: 'worker_lost' satisfies EndReason,
  }),
}

/** A session that another engine has had. */
export class Grave {
  readonly sessionId: string
  readonly name: string | null
  readonly owner: string | null
  readonly endedAt: Date
  readonly endReason: EndReason
  readonly #session: SessionSketch

  constructor({ owner, session }: Remembered<SessionSketch>) {
    this.sessionId = session.session_id
    this.name = session.name
    this.owner = owner
    this.endedAt = new Date(session.ended_at!)
    this.endReason = session.end_reason as EndReason
    this.#session = session
  }

  async record({ baseUrl }: Bases): Promise<SessionRecord> {
    const sse = `${baseUrl}/stream/sse?session_id=${this.sessionId}`
    return { ...this.#session, sse_url: sse, cdp_url: null, live_view_url: null }
  }

  /** It has ended. */
  async end(): Promise<void> {}
}
