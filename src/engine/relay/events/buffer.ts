/** The ring that holds the events of one relay session until somebody reads them. */
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import { collectedKinds } from '../../../core/relay-words.ts'
import type { RelayDropped, RelayEvent, RelayEventKind, RelayEventPage } from '../../../core/shapes/relay.ts'
import { type EventFilter, passes } from './filter.ts'

/** An event as a connector reports it: its number and time of arrival are given here. */
export type NewEvent = Omit<RelayEvent, 'seq' | 'received_at'>

export interface EventQuery extends EventFilter {
  /** Only records with a greater number. */
  readonly since: number
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

interface Kept {
  readonly event: RelayEvent
  readonly bytes: number
}

/** Bounded by number and by bytes; the oldest go first, and what went is always told. */
export class EventBuffer {
  readonly #epoch = newId('epo')
  readonly #listeners = new Set<() => void>()
  readonly #dropped: RelayDropped = { total: 0, console: 0, network: 0, page: 0, cdp: 0 }
  /** A queue whose head moves: shifting an array of thousands for every event would cost more than the event. */
  #kept: Kept[] = []
  #head = 0
  #bytes = 0
  #lastSeq = 0
  /** What was cleared on purpose is no gap. */
  #clearedTo = 0

  get count(): number {
    return this.#kept.length - this.#head
  }

  /** Characters of the records as JSON. */
  get bytes(): number {
    return this.#bytes
  }

  get firstSeq(): number {
    return this.#kept[this.#head]?.event.seq ?? this.#lastSeq + 1
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  get dropped(): RelayDropped {
    return { ...this.#dropped }
  }

  add(events: readonly NewEvent[]): void {
    const received_at = new Date().toISOString()
    for (const event of events) {
      const record: RelayEvent = { seq: ++this.#lastSeq, received_at, ...event }
      const bytes = JSON.stringify(record).length
      this.#kept.push({ event: record, bytes })
      this.#bytes += bytes
    }
    while (this.count > limits.relay.events || this.#bytes > limits.relay.eventBytes) this.#evict()
    if (events.length > 0) for (const listener of this.#listeners) listener()
  }

  /** Counts records that were lost on their way here. */
  lost(counts: Partial<Record<Exclude<RelayEventKind, 'relay'>, number>>): void {
    for (const kind of [...collectedKinds, 'cdp'] as const) {
      const count = counts[kind] ?? 0
      this.#dropped[kind] += count
      this.#dropped.total += count
    }
  }

  /** Forgets every record; the numbers go on. */
  clear(): void {
    this.#kept = []
    this.#head = 0
    this.#bytes = 0
    this.#clearedTo = this.#lastSeq
  }

  read({ since, limit, order, ...filter }: EventQuery): RelayEventPage {
    const after = this.#after(since)
    const found: RelayEvent[] = []
    let more = false
    for (const event of order === 'asc' ? after : reversed(after)) {
      if (!passes(event, filter)) continue
      if (found.length === limit) {
        more = true
        break
      }
      found.push(event)
    }
    const cut = more && order === 'asc'
    return {
      events: found,
      next: cut ? found.at(-1)!.seq : Math.max(since, this.#lastSeq),
      more,
      first_seq: this.firstSeq,
      last_seq: this.#lastSeq,
      gap: this.#gapAfter(since),
      dropped: this.dropped,
      epoch: this.#epoch,
    }
  }

  /**
   * Records after `since` as they come, until `signal` aborts; what a reader misses because the ring is short comes as
   * a record of kind relay that counts it.
   */
  async *follow(query: Omit<EventQuery, 'limit' | 'order'>, signal: AbortSignal): AsyncGenerator<RelayEvent> {
    let { since } = query
    while (!signal.aborted) {
      const page = this.read({ ...query, since, limit: limits.relay.pageEvents, order: 'asc' })
      if (page.gap) {
        const now = new Date()
        const told = { ts: now.getTime(), received_at: now.toISOString(), kind: 'relay', type: 'dropped' } as const
        yield { seq: page.gap.to, ...told, data: { cause: 'evicted', ...page.gap } }
      }
      for (const event of page.events) {
        if (signal.aborted) return
        yield event
      }
      since = page.next
      if (!page.more && since === this.#lastSeq) await this.next(signal)
    }
  }

  /** Resolves when a record is added, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#listeners.add(done)
      if (signal.aborted) done()
      else signal.addEventListener('abort', done)
    })
  }

  #after(since: number): RelayEvent[] {
    const first = Math.max(0, since + 1 - this.firstSeq)
    return this.#kept.slice(this.#head + first).map(({ event }) => event)
  }

  #gapAfter(since: number): RelayEventPage['gap'] {
    const from = Math.max(since, this.#clearedTo) + 1
    const to = this.firstSeq - 1
    return to >= from ? { from, to, count: to - from + 1 } : null
  }

  #evict(): void {
    this.#bytes -= this.#kept[this.#head]!.bytes
    // Lets go of the record at once, and of the array's dead half now and then.
    this.#kept[this.#head++] = undefined as never
    if (this.#head > limits.relay.events) {
      this.#kept = this.#kept.slice(this.#head)
      this.#head = 0
    }
  }
}

function* reversed<T>(items: readonly T[]): Generator<T> {
  for (let at = items.length - 1; at >= 0; at--) yield items[at]!
}
