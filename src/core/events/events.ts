/** Event log of one session: numbered events in a ring buffer limited by count and length, delivered to listeners. */
import { limits } from '../limits/limits.ts'

/** All types of a session's event log; their data is described in core/shapes/events.ts. */
export const sessionEventTypes = [
  'session.status', 'session.expiring', 'session.closed', 'command.started', 'command.finished',
  'page.navigated', 'page.loaded', 'page.error', 'console', 'network.request', 'network.response', 'network.failed', 'network.blocked',
  'dialog.opened', 'dialog.closed', 'file_chooser.opened', 'download.started', 'download.finished',
  'tab.opened', 'tab.activated', 'tab.recovered', 'tab.closed', 'provision.stage', 'recording.step',
  'approval.requested', 'approval.decided', 'control.taken', 'control.waiting', 'control.returned', 'lagged', 'error',
] as const // prettier-ignore

export type SessionEventType = (typeof sessionEventTypes)[number]

export interface SessionEvent {
  /** Sequence number, from 1 without gaps. */
  readonly seq: number
  /** ISO 8601 UTC. */
  readonly ts: string
  readonly type: SessionEventType
  readonly data: Record<string, unknown>
}

interface Kept {
  readonly event: SessionEvent
  readonly chars: number
}

export class EventLog {
  readonly #ring: Kept[] = []
  #chars = 0
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  #seq = 0

  emit(type: SessionEventType, data: Record<string, unknown> = {}): void {
    const event: SessionEvent = { seq: ++this.#seq, ts: new Date().toISOString(), type, data }
    const chars = charsOf(data)
    this.#ring.push({ event, chars })
    this.#chars += chars
    while (this.#ring.length > limits.events.ring || this.#chars > limits.eventChars)
      this.#chars -= this.#ring.shift()?.chars ?? 0
    for (const listener of this.#listeners) listener(event)
  }

  /** Returns buffered events with a number above `seq`, oldest first. */
  since(seq: number): SessionEvent[] {
    const first = this.#ring[0]?.event.seq ?? this.#seq + 1
    return this.#ring.slice(Math.max(0, seq + 1 - first)).map(({ event }) => event)
  }

  get lastSeq(): number {
    return this.#seq
  }

  /** Calls `listener` for every new event; returns a function that stops it. */
  listen(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Yields the events after `since` until `signal` aborts or `session.closed` was delivered.
   * A reader that falls behind the buffer gets a `lagged` event with the number of lost events; memory stays limited.
   */
  async *follow(since: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    // A number from before this log, of an engine that has restarted, means: from here on.
    let seen = Math.min(since, this.#seq)
    let wake = () => {}
    const wakeUp = () => wake()
    const stop = this.listen(wakeUp)
    signal.addEventListener('abort', wakeUp)
    try {
      while (!signal.aborted) {
        const events = this.since(seen)
        const lost = (events[0]?.seq ?? this.#seq + 1) - seen - 1
        if (lost > 0) {
          seen += lost
          yield { seq: seen, ts: new Date().toISOString(), type: 'lagged', data: { dropped: lost } }
        }
        for (const event of events) {
          if (signal.aborted) return
          seen = event.seq
          yield event
          if (event.type === 'session.closed') return
        }
        // Nothing is emitted between the read above and this wait.
        if (events.length === 0 && lost === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      stop()
      signal.removeEventListener('abort', wakeUp)
    }
  }
}

/** Estimates the length of the value as JSON. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  return Object.entries(value).reduce((sum, [name, inner]) => sum + name.length + 4 + charsOf(inner), 2)
}
