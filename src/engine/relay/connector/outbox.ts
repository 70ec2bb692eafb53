/** Queues events for the engine until they are acknowledged; limited while the tunnel is down. */
import { limits } from '../../../core/limits/limits.ts'
import type { NewEvent } from '../events/buffer.ts'
import type { EventBatch } from '../tunnel/messages.ts'

type Send = (batch: EventBatch) => void

export class Outbox {
  /** Unacknowledged events, oldest first; `#firstSeq` is the number of the first. */
  #kept: { readonly event: NewEvent; readonly chars: number }[] = []
  #firstSeq = 1
  #chars = 0
  /** Newest event sent over the current tunnel. */
  #sentSeq = 0
  #send: Send | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether drops have not been reported yet. */
  #unreported = false
  readonly #dropped = { console: 0, network: 0, page: 0, cdp: 0 }

  add(event: NewEvent): void {
    const chars = JSON.stringify(event).length
    this.#kept.push({ event, chars })
    this.#chars += chars
    // Drop and count the oldest events.
    while (this.#kept.length > limits.relay.outboxEvents || this.#chars > limits.relay.eventBytes) this.#dropOldest()
    this.#timer ??= setTimeout(() => this.#flush(), limits.relay.batchMs).unref()
  }

  /** Attaches a new tunnel and resends everything that the engine does not have. */
  connect(send: Send, acked: number): void {
    this.acknowledge(acked)
    this.#sentSeq = this.#firstSeq - 1
    this.#send = send
    this.#flush()
  }

  /** Counts an event that was skipped by the rate limit. */
  skip(kind: keyof EventBatch['dropped']): void {
    this.#dropped[kind] += 1
    this.#unreported = true
    this.#timer ??= setTimeout(() => this.#flush(), limits.relay.batchMs).unref()
  }

  disconnect(): void {
    this.#send = undefined
  }

  /** Removes all events up to `seq`, which the engine has received. */
  acknowledge(seq: number): void {
    const acknowledged = this.#kept.splice(0, Math.max(0, seq + 1 - this.#firstSeq))
    for (const { chars } of acknowledged) this.#chars -= chars
    this.#firstSeq += acknowledged.length
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#send = undefined
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#send) return
    const unsent = Math.max(0, this.#sentSeq + 1 - this.#firstSeq)
    let at = unsent
    while (at < this.#kept.length || this.#unreported) {
      const batch = this.#batchFrom(at)
      this.#send({ type: 'events', cseq: this.#firstSeq + at, batch, dropped: { ...this.#dropped } })
      this.#unreported = false
      at += batch.length
    }
    this.#sentSeq = this.#firstSeq + this.#kept.length - 1
  }

  /** Returns as many events as fit into one message. */
  #batchFrom(at: number): NewEvent[] {
    const batch: NewEvent[] = []
    let chars = 0
    for (const kept of this.#kept.slice(at, at + limits.relay.batchEvents)) {
      if (batch.length > 0 && chars + kept.chars > limits.relay.batchChars) break
      batch.push(kept.event)
      chars += kept.chars
    }
    return batch
  }

  #dropOldest(): void {
    const { event, chars } = this.#kept.shift()!
    this.#chars -= chars
    this.#firstSeq += 1
    // A sent event may have arrived; counting it as dropped is better than missing a loss.
    if (event.kind !== 'relay') this.#dropped[event.kind] += 1
  }
}
