/** Tombstones: the records of ended sessions. */
import { limits } from '../../../core/limits/limits.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'
import type { GraveKind, Remembered } from '../../store/graves.ts'
import { addressesOfEnded, type Bases } from './session-urls.ts'
import type { EndReason } from './endings.ts'
import { FrameTokens } from '../live/frame-tokens.ts'

/** Record of a session without the URLs, which depend on the request. */
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

export class Grave {
  readonly sessionId: string
  readonly name: string | null
  readonly owner: string | null
  readonly endedAt: Date
  readonly endReason: EndReason
  readonly tokens: FrameTokens
  readonly #session: SessionSketch

  /** Sessions of earlier engines have no tokens: only their owners can ask about them. */
  constructor({ owner, session }: Remembered<SessionSketch>, tokens = new FrameTokens()) {
    this.sessionId = session.session_id
    this.name = session.name
    this.owner = owner
    this.tokens = tokens
    this.endedAt = new Date(session.ended_at!)
    this.endReason = session.end_reason as EndReason
    this.#session = session
  }

  async record(bases: Bases): Promise<SessionRecord> {
    return { ...this.#session, ...addressesOfEnded(this.sessionId, bases) }
  }

  /** Does nothing: the session has already ended. */
  async end(): Promise<void> {}
}
