/** Events on their way to the engine: kept until they are acknowledged, and bounded while the tunnel is down. */
import { limits } from '../../../core/limits/limits.ts'
import type { NewEvent } from '../events/buffer.ts'
import type { EventBatch } from '../tunnel/messages.ts'

type Send = (batch: EventBatch) => void

interface Kept {
  readonly event: NewEvent
  readonly chars: number
}

export class Outbox {
  /** The oldest that is not acknowledged comes first; `#firstSeq` is its number. */
  #kept: Kept[] = []
  #firstSeq = 1
  #chars = 0
  /** The newest that went over the present tunnel. */
  #sentSeq = 0
  #send: Send | undefined
  #timer: NodeJS.Timeout | undefined
  /** Something was dropped that no batch has told of yet. */
  #untold = false
  readonly #dropped = { console: 0, network: 0, page: 0, cdp: 0 }

  add(event: NewEvent): void {
    const chars = JSON.stringify(event).length
    this.#kept.push({ event, chars })
    this.#chars += chars
    // The newest are kept; what goes is counted.
    while (this.#kept.length > limits.relay.outboxEvents || this.#chars > limits.relay.eventBytes) this.#dropOldest()
    this.#timer ??= setTimeout(() => this.#flush(), limits.relay.batchMs).unref()
  }

  /** A tunnel is there: all that the engine does not have is sent again. */
  connect(send: Send, acked: number): void {
    this.acknowledge(acked)
    this.#sentSeq = this.#firstSeq - 1
    this.#send = send
    this.#flush()
  }

  /** Counts an event that was left out on purpose. */
  skip(kind: keyof EventBatch['dropped']): void {
    this.#dropped[kind] += 1
    this.#untold = true
    this.#timer ??= setTimeout(() => this.#flush(), limits.relay.batchMs).unref()
  }

  disconnect(): void {
    this.#send = undefined
  }

  /** The engine has all up to this one. */
  acknowledge(seq: number): void {
    const gone = this.#kept.splice(0, Math.max(0, seq + 1 - this.#firstSeq))
    for (const { chars } of gone) this.#chars -= chars
    this.#firstSeq += gone.length
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
    while (at < this.#kept.length || this.#untold) {
      const batch = this.#batchFrom(at)
      this.#send({ type: 'events', cseq: this.#firstSeq + at, batch, dropped: { ...this.#dropped } })
      this.#untold = false
      at += batch.length
    }
    this.#sentSeq = this.#firstSeq + this.#kept.length - 1
  }

  /** As many as go into one message. */
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
    // What was sent is lost only if its tunnel is; counting it once too often is better than not at all.
    if (event.kind !== 'relay') this.#dropped[event.kind] += 1
  }
}
