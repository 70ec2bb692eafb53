/** Sessions that were recorded for a replay and have ended: the replay of one that crashed explains why. */
import { limits } from '../../../core/limits/limits.ts'
import type { LiveSession } from '../ports/session.ts'

export class EndedReplays<Recorded extends Pick<LiveSession, 'sessionId' | 'replay'> = LiveSession> {
  readonly #kept = new Map<string, Recorded>()

  /** Keeps the recording of a session for a while, unless those that end later need its memory. */
  keep(session: Recorded): void {
    const { sessionId, replay } = session
    if (!replay) return
    this.#kept.set(sessionId, session)
    setTimeout(() => this.#kept.delete(sessionId), limits.session.tombstoneMs).unref()
    for (const [id] of this.#kept) {
      if (id === sessionId || this.#chars <= limits.replay.keptChars) return
      this.#kept.delete(id)
    }
  }

  find(sessionId: string): Recorded | undefined {
    return this.#kept.get(sessionId)
  }

  get #chars(): number {
    return [...this.#kept.values()].reduce((sum, { replay }) => sum + replay!.chars, 0)
  }
}
