/** Ring buffer that holds the events of one relay session until they are read. */
import { EventEmitter, once } from 'node:events'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import { collectedKinds } from '../../../core/relay-names.ts'
import type { RelayDropped, RelayEvent, RelayEventKind, RelayEventPage } from '../../../core/shapes/relay.ts'

/** Kinds of events whose losses are counted. */
export const countedKinds = [...collectedKinds, 'cdp'] as const

/** Event as reported by a connector, before it gets a number and a time of arrival. */
export type NewEvent = Omit<RelayEvent, 'seq' | 'received_at'>

/** Event before its target is added and its secrets are redacted. */
export type EventDraft = Pick<NewEvent, 'kind' | 'type' | 'ts' | 'data' | 'frame_id'>

export interface EventQuery {
  /** Only events with a higher number. */
  readonly since: number
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly kinds?: readonly RelayEventKind[]
  readonly types?: readonly string[]
  readonly targetId?: string
  /** Level of console events: `error`, `warn`, … */
  readonly level?: string
  /** Whether a URL matches. */
  readonly url?: (url: string) => boolean
  /** Text to find, ignoring case. */
  readonly text?: string
}

/** Limited by number and size; drops the oldest events first and reports every drop. */
export class EventBuffer {
  readonly #epoch = newId('epo')
  readonly #emitter = new EventEmitter().setMaxListeners(0)
  readonly #dropped: RelayDropped = { total: 0, console: 0, network: 0, page: 0, cdp: 0 }
  /** Queue with a moving head: shifting an array of thousands for each event would be slow. */
  #kept: ({ readonly event: RelayEvent; readonly bytes: number } | undefined)[] = []
  #head = 0
  #bytes = 0
  #lastSeq = 0
  /** Newest cleared event; clearing is not reported as a gap. */
  #clearedTo = 0

  get count(): number {
    return this.#kept.length - this.#head
  }

  /** Size of the events as JSON, in characters. */
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
    if (events.length > 0) this.#emitter.emit('added')
  }

  /** Counts events that were lost before they arrived. */
  lost(counts: Partial<Record<(typeof countedKinds)[number], number>>): void {
    for (const kind of countedKinds) {
      const count = counts[kind] ?? 0
      this.#dropped[kind] += count
      this.#dropped.total += count
    }
  }

  /** Removes all events; numbering continues. */
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
    for (const event of order === 'asc' ? after : after.toReversed()) {
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

  /** Yields events after `since` until `signal` aborts; an event of kind `relay` counts those dropped unread. */
  async *follow(query: Omit<EventQuery, 'limit' | 'order'>, signal: AbortSignal): AsyncGenerator<RelayEvent> {
    let { since } = query
    while (!signal.aborted) {
      const page = this.read({ ...query, since, limit: limits.relay.pageEvents, order: 'asc' })
      if (page.gap) {
        const now = new Date()
        const marker = { ts: now.getTime(), received_at: now.toISOString(), kind: 'relay', type: 'dropped' } as const
        yield { seq: page.gap.to, ...marker, data: { cause: 'evicted', ...page.gap } }
      }
      for (const event of page.events) {
        if (signal.aborted) return
        yield event
      }
      since = page.next
      if (!page.more && since === this.#lastSeq) await this.next(signal)
    }
  }

  /** Resolves when an event is added, or when `signal` aborts. */
  async next(signal: AbortSignal): Promise<void> {
    await once(this.#emitter, 'added', { signal }).catch(() => {})
  }

  #after(since: number): RelayEvent[] {
    const first = Math.max(0, since + 1 - this.firstSeq)
    return this.#kept.slice(this.#head + first).map((kept) => kept!.event)
  }

  #gapAfter(since: number): RelayEventPage['gap'] {
    const from = Math.max(since, this.#clearedTo) + 1
    const to = this.firstSeq - 1
    return to >= from ? { from, to, count: to - from + 1 } : null
  }

  #evict(): void {
    this.#bytes -= this.#kept[this.#head]!.bytes
    // Release the event immediately, and the unused start of the array from time to time.
    this.#kept[this.#head++] = undefined
    if (this.#head > limits.relay.events) {
      this.#kept = this.#kept.slice(this.#head)
      this.#head = 0
    }
  }
}

/** Returns whether an event matches; events without a filtered field do not. */
function passes(event: RelayEvent, filter: Omit<EventQuery, 'since' | 'limit' | 'order'>): boolean {
  const { kinds, types, targetId, level, url, text } = filter
  if (kinds && !kinds.includes(event.kind)) return false
  if (types && !types.includes(event.type)) return false
  if (targetId !== undefined && event.target_id !== targetId) return false
  if (level !== undefined && event.data['level'] !== level) return false
  if (url && !(typeof event.data['url'] === 'string' && url(event.data['url']))) return false
  return text === undefined || textOf(event).toLowerCase().includes(text.toLowerCase())
}

/** Returns the text of an event, or all of its data as JSON. */
function textOf({ data }: RelayEvent): string {
  return typeof data['text'] === 'string' ? data['text'] : JSON.stringify(data)
}
