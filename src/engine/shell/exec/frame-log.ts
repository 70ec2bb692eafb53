/** The frames of one command: numbered, handed to readers at their pace, kept for those who come back. */
import { limits } from '../../../core/limits/limits.ts'
import type { Frame } from '../../../core/operation/stream.ts'

interface Kept {
  readonly frame: Frame
  readonly size: number
}

interface Reader {
  seen: number
  wake: () => void
}

/** Frames that wait for a reader before the program has to; a log keeps twice as many. */
const framesWaiting = limits.events.ring / 2
const keptBytes = 4 * limits.exec.bufferedBytes

export class FrameLog {
  /** Whether what was read stays for a reader who comes back. */
  readonly keeps: boolean
  readonly #kept: Kept[] = []
  readonly #readers = new Set<Reader>()
  #size = 0
  #seq = 0
  #ended = false
  #wasRead = false
  /** Programs' outputs that wait for room. */
  #waiting: (() => void)[] = []

  constructor(keeps: boolean) {
    this.keeps = keeps
  }

  /** `size` is what the frame takes in memory, about. */
  add(type: string, fields: Record<string, unknown>, size = 0): void {
    if (this.#ended) return
    const frame = { seq: ++this.#seq, ts: new Date().toISOString(), type, ...fields }
    this.#kept.push({ frame, size })
    this.#size += size
    this.#drop()
    for (const reader of this.#readers) reader.wake()
  }

  /** The last frame; what is added later is no part of the stream. */
  end(type: 'exit' | 'error' | 'built', fields: Record<string, unknown>): void {
    this.add(type, fields)
    this.#ended = true
    this.#release()
    for (const reader of this.#readers) reader.wake()
  }

  /** Resolves when no reader is far behind; without one at once when nobody will come, or what is old may go. */
  async room(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #release(): void {
    const released = this.#waiting
    this.#waiting = []
    for (const go of released) go()
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

  /** Lets go of what was read, or of what is too old to be kept. */
  #drop(): void {
    const slowest = Math.min(...[...this.#readers].map(({ seen }) => seen))
    for (;;) {
      const [oldest] = this.#kept
      if (!oldest) return
      const isRead = this.#readers.size === 0 ? this.#wasRead : oldest.frame.seq <= slowest
      const isTooMuch = this.#kept.length > limits.events.ring || this.#size > keptBytes
      if (this.keeps ? !isTooMuch : !isRead) return
      this.#kept.shift()
      this.#size -= oldest.size
    }
  }

  /**
   * Frames after `since`; the reader counts from this call on, until `signal` is aborted or it has seen the end.
   * The first frame says `lagged` when older ones are gone; `ping` comes while nothing else does.
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
        else if (await this.#quiet(reader)) {
          yield { seq: reader.seen, ts: new Date().toISOString(), type: 'ping' }
        }
      }
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  /** Waits for a frame; true when none has come for a while. */
  async #quiet(reader: Reader): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const quiet = await new Promise<boolean>((resolve) => {
      reader.wake = () => resolve(false)
      timer = setTimeout(resolve, limits.exec.pingMs, true)
    })
    clearTimeout(timer)
    reader.wake = () => {}
    return quiet
  }
}
