/** Events of one session: numbered, kept in a ring, and delivered to listeners. */
import { limits } from './limits.ts'

/** Every type that a session's log can hold; core/shapes/events.ts says what their data is. */
export const sessionEventTypes = [
  'session.status',
  'session.expiring',
  'session.closed',
  'command.started',
  'command.finished',
  'page.navigated',
  'page.loaded',
  'page.error',
  'console',
  'network.request',
  'network.response',
  'network.failed',
  'dialog.opened',
  'dialog.closed',
  'download.started',
  'download.finished',
  'tab.opened',
  'tab.closed',
  'provision.stage',
  'control.taken',
  'control.returned',
  'lagged',
  'error',
] as const

export type SessionEventType = (typeof sessionEventTypes)[number]

export interface SessionEvent {
  /** From 1, without holes. */
  readonly seq: number
  /** ISO 8601 UTC. */
  readonly ts: string
  readonly type: SessionEventType
  readonly data: Record<string, unknown>
}

export class EventLog {
  readonly #ring: SessionEvent[] = []
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  #seq = 0

  emit(type: SessionEventType, data: Record<string, unknown> = {}): void {
    const event: SessionEvent = { seq: ++this.#seq, ts: new Date().toISOString(), type, data }
    this.#ring.push(event)
    if (this.#ring.length > limits.events.ring) this.#ring.shift()
    for (const listener of this.#listeners) listener(event)
  }

  /** Kept events with a number above `seq`, oldest first. */
  since(seq: number): SessionEvent[] {
    const first = this.#ring[0]?.seq ?? this.#seq + 1
    return this.#ring.slice(Math.max(0, seq + 1 - first))
  }

  get lastSeq(): number {
    return this.#seq
  }

  /** Calls `listener` for every event from now on; returns the way to stop it. */
  listen(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Events after `since` as they come, until `signal` is aborted or `session.closed` was delivered.
   * A reader that falls behind the ring gets a `lagged` event with the number it lost: memory stays bounded.
   */
  async *follow(since: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    // A number from a time before this log (an engine that started anew) means: from here on.
    let seen = Math.min(since, this.#seq)
    let wake = () => {}
    const poke = () => wake()
    const stop = this.listen(poke)
    signal.addEventListener('abort', poke)
    try {
      while (!signal.aborted) {
        const events = this.since(seen)
        const lost = (events[0]?.seq ?? seen + 1) - seen - 1
        if (lost > 0) yield { seq: seen + lost, ts: new Date().toISOString(), type: 'lagged', data: { dropped: lost } }
        for (const event of events) {
          if (signal.aborted) return
          seen = event.seq
          yield event
          if (event.type === 'session.closed') return
        }
        // Nothing is emitted between the look above and this wait.
        if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      stop()
      signal.removeEventListener('abort', poke)
    }
  }
}
