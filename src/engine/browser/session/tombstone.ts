/** Tombstones: the records of ended sessions. */
import { limits } from '../../../core/limits/limits.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'
import type { TombstoneKind, StoredTombstone } from '../../store/tombstones.ts'
import { type BaseUrls, type SessionSketch, urlsOfEnded } from '../links/session-urls.ts'
import type { EndReason } from '../ports/session.ts'
import { FrameTokens } from '../links/frame-tokens.ts'

const lostReason: EndReason = 'worker_lost'

export const browserTombstones: TombstoneKind<SessionSketch> = {
  folder: 'sessions',
  keptMs: limits.session.tombstoneMs,
  endOf: ({ ended_at }) => ended_at,
  lost: (session, ended_at) => ({ ...session, status: 'failed', tabs: 0, ended_at, end_reason: lostReason }),
}

export class Tombstone {
  readonly sessionId: string
  readonly name: string | null
  readonly owner: string | null
  readonly endedAt: Date
  readonly endReason: EndReason
  readonly tokens: FrameTokens
  readonly #session: SessionSketch

  /** Sessions of earlier engines have no tokens: only their owners can ask about them. */
  constructor({ owner, session }: StoredTombstone<SessionSketch>, tokens = new FrameTokens()) {
    this.sessionId = session.session_id
    this.name = session.name
    this.owner = owner
    this.tokens = tokens
    this.endedAt = new Date(session.ended_at!)
    this.endReason = session.end_reason as EndReason
    this.#session = session
  }

  async record(bases: BaseUrls): Promise<SessionRecord> {
    return { ...this.#session, ...urlsOfEnded(this.sessionId, bases) }
  }

  /** Does nothing: the session has already ended. */
  async end(): Promise<void> {}
}
