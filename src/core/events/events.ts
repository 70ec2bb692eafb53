/**
 * Event log of one session: numbered events in a ring buffer limited by count and length, delivered to listeners. Some
 * events of each kind outlive the buffer, so that a flood of one kind does not push out all others.
 */
import { limits } from '../limits/limits.ts'

/** All types of a session's event log; their data is described in core/shapes/events.ts. */
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
  'network.blocked',
  'dialog.opened',
  'dialog.closed',
  'file_chooser.opened',
  'download.started',
  'download.finished',
  'tab.opened',
  'tab.activated',
  'tab.recovered',
  'tab.closed',
  'provision.stage',
  'recording.step',
  'approval.requested',
  'approval.decided',
  'handoff.requested',
  'handoff.taken',
  'handoff.returned',
  'handoff.declined',
  'handoff.expired',
  'handoff.withdrawn',
  'credential.used',
  'credential.registered',
  'credential.blocked',
  'control.taken',
  'control.waiting',
  'control.returned',
  'lagged',
  'error',
] as const

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

/** Kind of an event; uncaught errors are output of pages, like messages of the console. */
const kindOf = (type: SessionEventType): string => (type === 'page.error' ? 'console' : type.split('.')[0]!)

/** Events of one kind. */
interface KindLog {
  /** Number of its events in the ring buffer. */
  recent: number
  /** Events that have left the ring buffer, oldest first, and their length. */
  readonly older: Kept[]
  chars: number
}

export class EventLog {
  /** The last events, without gaps. */
  readonly #ring: Kept[] = []
  #chars = 0
  readonly #kinds = new Map<string, KindLog>()
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  #seq = 0
  #hide = (data: Record<string, unknown>) => data

  /** Returns the data of an event as it may be kept and delivered. */
  screen: (type: SessionEventType, data: Record<string, unknown>) => Record<string, unknown> = (_type, data) => data

  /** Hides secrets in the data of further events. */
  hideWith(hide: (data: Record<string, unknown>) => Record<string, unknown>): void {
    this.#hide = hide
  }

  emit(type: SessionEventType, given: Record<string, unknown> = {}): void {
    const data = this.#hide(this.screen(type, given))
    const event: SessionEvent = { seq: ++this.#seq, ts: new Date().toISOString(), type, data }
    const chars = charsOf(data)
    this.#ring.push({ event, chars })
    this.#chars += chars
    this.#kindOf(event).recent += 1
    while (this.#ring.length > limits.events.ring || this.#chars > limits.eventChars) this.#retire(this.#ring.shift()!)
    for (const listener of this.#listeners) listener(event)
  }

  /** Moves an event out of the ring buffer; it is kept while its kind has few newer ones. */
  #retire(kept: Kept): void {
    this.#chars -= kept.chars
    const kind = this.#kindOf(kept.event)
    kind.recent -= 1
    kind.older.push(kept)
    kind.chars += kept.chars
    const { perKind, kindChars } = limits.events
    while (kind.older.length > 0 && (kind.older.length + kind.recent > perKind || kind.chars > kindChars))
      kind.chars -= kind.older.shift()!.chars
  }

  #kindOf({ type }: SessionEvent): KindLog {
    const name = kindOf(type)
    const known = this.#kinds.get(name)
    if (known) return known
    const kind: KindLog = { recent: 0, older: [], chars: 0 }
    this.#kinds.set(name, kind)
    return kind
  }

  /** Returns buffered events with a number above `seq`, oldest first; the numbers of a log that was full have gaps. */
  since(seq: number): SessionEvent[] {
    const first = this.#ring[0]?.event.seq ?? this.#seq + 1
    const recent = this.#ring.slice(Math.max(0, seq + 1 - first)).map(({ event }) => event)
    if (seq + 1 >= first) return recent
    const older = [...this.#kinds.values()].flatMap((kind) => kind.older.map(({ event }) => event))
    return [...older.filter((event) => event.seq > seq).toSorted((a, b) => a.seq - b.seq), ...recent]
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
   * A reader that falls behind the buffer first gets a `lagged` event with the number of lost events; memory stays
   * limited.
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
        const last = this.#seq
        const lost = last - seen - events.length
        if (lost > 0) {
          seen = (events[0]?.seq ?? last + 1) - 1
          yield { seq: seen, ts: new Date().toISOString(), type: 'lagged', data: { dropped: lost } }
        }
        for (const event of events) {
          if (signal.aborted) return
          seen = event.seq
          yield event
          if (event.type === 'session.closed') return
        }
        seen = last
        // Nothing is emitted between this comparison and the wait.
        if (seen === this.#seq && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
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
