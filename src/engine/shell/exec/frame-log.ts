/** Log of the frames of one command: numbered, read at the pace of its readers, and kept for those who reconnect. */
import type { Frame } from '../../../core/operation/call.ts'
import { limits } from '../../../core/limits/limits.ts'

interface LoggedFrame {
  readonly frame: Frame
  readonly size: number
}

interface Reader {
  seen: number
  wake: () => void
}

/** Number of unread frames at which the program has to wait; a log keeps twice as many. */
const framesWaiting = limits.events.ring / 2
const keptBytes = 4 * limits.exec.bufferedBytes

export class FrameLog {
  /** Whether frames stay available for readers who reconnect. */
  readonly isReplayable: boolean
  readonly #kept: LoggedFrame[] = []
  readonly #readers = new Set<Reader>()
  #size = 0
  #seq = 0
  #ended = false
  #wasRead = false
  /** Callbacks of producers that wait for room. */
  #waiting: (() => void)[] = []

  constructor(isReplayable: boolean) {
    this.isReplayable = isReplayable
  }

  /** @param size Approximate size of the frame in memory. */
  add(type: string, fields: Record<string, unknown>, size = 0): void {
    if (this.#ended) return
    const frame = { seq: ++this.#seq, ts: new Date().toISOString(), type, ...fields }
    this.#kept.push({ frame, size })
    this.#size += size
    this.#drop()
    for (const reader of this.#readers) reader.wake()
  }

  /** Adds the last frame; later ones are ignored. */
  end(type: 'exit' | 'error' | 'built', fields: Record<string, unknown>): void {
    this.add(type, fields)
    this.#ended = true
    this.#release()
    for (const reader of this.#readers) reader.wake()
  }

  /** Resolves when no reader is far behind. Without readers, it resolves at once if there was one before. */
  async room(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #release(): void {
    const released = this.#waiting
    this.#waiting = []
    for (const resume of released) resume()
  }

  #isFull(): boolean {
    if (this.#ended || (this.#readers.size === 0 && this.#wasRead)) return false
    const slowest = Math.min(...[...this.#readers].map(({ seen }) => seen), this.#seq)
    const from = this.#readers.size === 0 ? 0 : this.#indexAfter(slowest)
    if (this.#kept.length - from > framesWaiting) return true
    let size = 0
    for (let at = from; at < this.#kept.length; at += 1) size += this.#kept[at]!.size
    return size > limits.exec.bufferedBytes
  }

  #indexAfter(seq: number): number {
    const first = this.#kept[0]?.frame.seq ?? this.#seq + 1
    return Math.max(0, seq + 1 - first)
  }

  /** Drops frames that were read, or that exceed the limits. */
  #drop(): void {
    const slowest = Math.min(...[...this.#readers].map(({ seen }) => seen))
    for (;;) {
      const [oldest] = this.#kept
      if (!oldest) return
      const isRead = this.#readers.size === 0 ? this.#wasRead : oldest.frame.seq <= slowest
      const isTooMuch = this.#kept.length > limits.events.ring || this.#size > keptBytes
      if (this.isReplayable ? !isTooMuch : !isRead) return
      this.#kept.shift()
      this.#size -= oldest.size
    }
  }

  /**
   * Yields frames after `since` until `signal` aborts or the log ends. Its pace limits the program from this call on.
   * Starts with a `lagged` frame if older ones were dropped; sends `ping` while there are no frames.
   */
  follow(since: number, signal: AbortSignal): AsyncGenerator<Frame> {
    const reader: Reader = { seen: Math.min(since, this.#seq), wake: () => {} }
    this.#readers.add(reader)
    this.#wasRead = true
    const leave = () => {
      this.#readers.delete(reader)
      this.#release()
      reader.wake()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    return this.#frames(reader, signal, leave)
  }

  async *#frames(reader: Reader, signal: AbortSignal, leave: () => void): AsyncGenerator<Frame> {
    try {
      while (!signal.aborted) {
        const first = this.#kept[0]?.frame.seq ?? this.#seq + 1
        if (reader.seen + 1 < first) {
          const dropped = first - 1 - reader.seen
          reader.seen = first - 1
          yield { seq: first - 1, ts: new Date().toISOString(), type: 'lagged', data: { dropped } } as Frame
        }
        const next = this.#kept[this.#indexAfter(reader.seen)]
        if (next) {
          reader.seen = next.frame.seq
          this.#drop()
          this.#release()
          yield next.frame
        } else if (this.#ended) return
        else if (await this.#isIdle(reader)) {
          yield { seq: reader.seen, ts: new Date().toISOString(), type: 'ping' }
        }
      }
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  /** Waits for a frame; resolves with true if none was added for a while. */
  async #isIdle(reader: Reader): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const isIdle = await new Promise<boolean>((resolve) => {
      reader.wake = () => resolve(false)
      timer = setTimeout(resolve, limits.exec.pingMs, true)
    })
    clearTimeout(timer)
    reader.wake = () => {}
    return isIdle
  }
}
