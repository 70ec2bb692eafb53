/** Events of one session: numbered, kept in a ring, and delivered to listeners. */
import { limits } from './limits.ts'

export type SessionEventType =
  | 'session.status' | 'session.expiring' | 'session.closed' | 'command.started' | 'command.finished'
  | 'page.navigated' | 'page.loaded' | 'page.error' | 'console' | 'network.request' | 'network.response' | 'network.failed'
  | 'dialog.opened' | 'dialog.closed' | 'download.started' | 'download.finished' | 'tab.opened' | 'tab.closed'
  | 'provision.stage' | 'error' // prettier-ignore

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
    return this.#ring.filter((event) => event.seq > seq)
  }

  get lastSeq(): number {
    return this.#seq
  }

  /** Calls `listener` for every event from now on; returns the way to stop it. */
  listen(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
