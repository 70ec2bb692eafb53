/**
 * Rate limit on console output of pages: drops excess messages early, so that they do not slow down other sessions.
 * Ends a page that does not stop, since its output accumulates in the memory of the browser that all sessions share.
 */
import { limits } from '../../../core/limits/limits.ts'

/** Events that are subject to the limit. */
const limitedEvents = ['"Runtime.consoleAPICalled"', '"Runtime.exceptionThrown"', '"Log.entryAdded"']

/** Bytes at the start of a message that contain its method, and at its end that contain its session. */
const headBytes = 48
export const tailBytes = 64

interface Source {
  /** Number of messages in this second. */
  count: number
  /** Messages dropped since the last second within the limit, and their bytes. */
  lost: number
  lostBytes: number
  /** Number of consecutive messages that were already old when they arrived. */
  late: number
  /** Milliseconds between the first and the last of them, by the time at which the page sent them. */
  lateForMs: number
  lateSince: number
}

export class OutputLimit {
  readonly #sources = new Map<string, Source>()
  readonly #onEndless: (sessionId: string) => void
  readonly #now: () => number
  readonly #clock: () => number
  #second = 0

  /** Calls `onEndless` once for a protocol session whose page does not stop. */
  constructor(
    onEndless: (sessionId: string) => void,
    now: () => number = () => performance.now(),
    clock: () => number = Date.now,
  ) {
    this.#onEndless = onEndless
    this.#now = now
    this.#clock = clock
  }

  /** Returns the text of a message, or undefined to drop it; the first dropped one becomes a notice. */
  filter(message: Buffer): string | undefined {
    const head = message.toString('latin1', 0, headBytes)
    if (!limitedEvents.some((method) => head.includes(method))) return message.toString()
    this.#startSecond()
    const session = sessionIn(message)
    let source = this.#sources.get(session)
    if (!source)
      this.#sources.set(session, (source = { count: 0, lost: 0, lostBytes: 0, late: 0, lateForMs: 0, lateSince: 0 }))
    source.count += 1
    const wasEndless = isEndless(source)
    const isExcess = source.count > limits.flood.messagesPerSec
    source.lost += isExcess ? 1 : 0
    source.lostBytes += isExcess ? message.length : 0
    this.#countLate(source, sentAtOf(message))
    if (!wasEndless && isEndless(source)) this.#onEndless(session)
    if (!isExcess) return message.toString()
    return source.count === limits.flood.messagesPerSec + 1 ? noticeIn(message.toString()) : undefined
  }

  /** Resets the counters in a new second, and removes sources that stayed within the limit. */
  #startSecond(): void {
    const second = Math.floor(this.#now() / 1000)
    if (second === this.#second) return
    this.#second = second
    for (const [session, source] of this.#sources) {
      if (source.count > limits.flood.messagesPerSec || source.late > 0) source.count = 0
      else this.#sources.delete(session)
    }
  }

  #countLate(source: Source, sentAt: number | undefined): void {
    const isLate = sentAt !== undefined && this.#clock() - sentAt > limits.flood.lateMs
    if (source.late === 0 && isLate) source.lateSince = sentAt
    source.late = isLate ? source.late + 1 : 0
    source.lateForMs = isLate ? sentAt - source.lateSince : 0
  }
}

/** Returns the time at which the page sent a message, in milliseconds since the epoch. */
function sentAtOf(message: Buffer): number | undefined {
  // Quotes in the page's text are escaped, so this is the field of the message.
  const at = message.lastIndexOf('"timestamp":')
  const sentAt = Number.parseFloat(message.toString('latin1', at + 12, at + 30))
  return at === -1 || Number.isNaN(sentAt) ? undefined : sentAt
}

/** Returns the protocol session of an event, from its end; empty for events of the browser. */
export function sessionIn(message: Buffer): string {
  const tail = message.toString('latin1', Math.max(0, message.length - tailBytes))
  return /"sessionId":"([^"]+)"\}$/.exec(tail)?.[1] ?? ''
}

/** One burst is late on a busy machine, too; a page that does not stop sends for longer. */
const isEndless = ({ lost, lostBytes, late, lateForMs }: Source): boolean =>
  lost > limits.flood.lostMessages ||
  lostBytes > limits.flood.lostBytes ||
  (late > limits.flood.lateMessages && lateForMs > limits.flood.lateForMs)

/** Replaces the text of a console message by a notice; undefined for other events, which have no place for it. */
function noticeIn(text: string): string | undefined {
  const message = JSON.parse(text) as { method: string; params: object }
  if (message.method !== 'Runtime.consoleAPICalled') return undefined
  const value = `bax: more than ${limits.flood.messagesPerSec} messages per second; the rest is dropped, and a page that does not stop is ended`
  return JSON.stringify({
    ...message,
    params: { ...message.params, type: 'warning', args: [{ type: 'string', value }] },
  })
}
