/**
 * Rate limit on console output of pages: drops excess messages early, so that they do not slow down other sessions, and
 * reports how many. Ends a page that does not stop, since its output accumulates in the memory of its browser.
 */
import { limits } from '../../../core/limits/limits.ts'

/** Events that are subject to the limit. */
const limitedEvents = ['"Runtime.consoleAPICalled"', '"Runtime.exceptionThrown"', '"Log.entryAdded"']

/** Start of a message that a page repeats for a worker. */
const ofWorker = Buffer.from('{"method":"Log.entryAdded","params":{"entry":{"source":"worker"')

/** Interval of notices. */
const noticeMs = 1000

/** Bytes at the start of a message that contain its method, and at its end that contain its session. */
const headBytes = 48
export const tailBytes = 64

interface Source {
  /** Number of messages in this second. */
  count: number
  /** Messages beyond `endlessPerSec` since the last second within the limit, and their bytes. */
  lost: number
  lostBytes: number
  /** Number of consecutive messages that were already old when they arrived, and their bytes. */
  late: number
  lateBytes: number
  /** Milliseconds between the first and the last of them, by the time at which the page sent them. */
  lateForMs: number
  lateSince: number
}

/** `Target.attachedToTarget` or `Target.detachedFromTarget`. */
interface Tracked {
  readonly method: string
  readonly params: { readonly sessionId: string; readonly targetInfo?: { readonly type: string } }
}

export interface OutputRules {
  /** Called once for a protocol session whose page does not stop. */
  readonly onEndless: (sessionId: string) => void
  /** Called with an event in place of dropped ones, once a second. */
  readonly onNotice: (text: string) => void
  readonly now?: () => number
  readonly clock?: () => number
}

export class OutputLimit {
  readonly #sources = new Map<string, Source>()
  readonly #rules: OutputRules
  readonly #now: () => number
  readonly #clock: () => number
  #second = 0
  /** Number of messages of all sources in this second. */
  #count = 0
  /** Numbers of dropped messages that no notice has reported yet, by protocol session. */
  readonly #unreported = new Map<string, number>()
  readonly #workers = new Set<string>()
  #notices: NodeJS.Timeout | undefined

  constructor(rules: OutputRules) {
    this.#rules = rules
    this.#now = rules.now ?? (() => performance.now())
    this.#clock = rules.clock ?? Date.now
  }

  /** Returns the text of a message, or undefined to drop it. */
  filter(message: Buffer): string | undefined {
    const head = message.toString('latin1', 0, headBytes)
    if (head.includes('edFromTarget"') || head.includes('edToTarget"')) this.#trackWorkers(message.toString())
    if (!limitedEvents.some((method) => head.includes(method))) return message.toString()
    this.#startSecond()
    const { messagesPerSec, browserMessagesPerSec, reservedPerSec } = limits.flood
    const session = sessionIn(message)
    let source = this.#sources.get(session)
    if (!source) {
      source = { count: 0, lost: 0, lostBytes: 0, late: 0, lateBytes: 0, lateForMs: 0, lateSince: 0 }
      this.#sources.set(session, source)
    }
    source.count += 1
    const wasEndless = isEndless(source)
    const isShareUsed = this.#count >= browserMessagesPerSec && source.count > reservedPerSec
    const isExcess = source.count > messagesPerSec || isShareUsed
    if (isExcess) this.#drop(session, source, message)
    else this.#count += 1
    this.#countLate(source, message)
    if (!wasEndless && isEndless(source)) this.#rules.onEndless(session)
    return isExcess ? undefined : message.toString()
  }

  #trackWorkers(message: string): void {
    const { method, params } = JSON.parse(message) as Tracked
    if (method === 'Target.detachedFromTarget') this.#workers.delete(params.sessionId)
    else if (params.targetInfo?.type === 'worker') this.#workers.add(params.sessionId)
  }

  #drop(session: string, source: Source, message: Buffer): void {
    if (source.count > limits.flood.endlessPerSec) {
      source.lost += 1
      source.lostBytes += message.length
    }
    // A page repeats the messages of its workers, which have sessions of their own.
    if (message.subarray(0, ofWorker.length).equals(ofWorker)) return
    this.#unreported.set(session, (this.#unreported.get(session) ?? 0) + 1)
    if (this.#notices === undefined) this.#notices = setTimeout(() => this.#report(), noticeMs).unref()
  }

  #report(): void {
    this.#notices = undefined
    for (const [session, count] of this.#unreported)
      this.#rules.onNotice(noticeOf(count, session, this.#workers.has(session)))
    this.#unreported.clear()
  }

  /** Resets the counters in a new second, and removes sources that stayed within the limit. */
  #startSecond(): void {
    const second = Math.floor(this.#now() / 1000)
    if (second === this.#second) return
    this.#second = second
    this.#count = 0
    for (const [session, source] of this.#sources) {
      if (source.count > limits.flood.messagesPerSec || source.late > 0) source.count = 0
      else this.#sources.delete(session)
    }
  }

  #countLate(source: Source, message: Buffer): void {
    const sentAt = sentAtOf(message)
    const isLate = sentAt !== undefined && this.#clock() - sentAt > limits.flood.lateMs
    if (source.late === 0 && isLate) source.lateSince = sentAt
    source.late = isLate ? source.late + 1 : 0
    source.lateBytes = isLate ? source.lateBytes + message.length : 0
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
const isEndless = ({ lost, lostBytes, late, lateBytes, lateForMs }: Source): boolean =>
  lost > limits.flood.lostMessages ||
  lostBytes > limits.flood.lostBytes ||
  ((late > limits.flood.lateMessages || lateBytes > limits.flood.lostBytes) && lateForMs > limits.flood.lateForMs)

/** Builds the event that reports dropped messages; workers have no log. */
function noticeOf(count: number, sessionId: string, isWorker: boolean): string {
  const text = `bax: dropped ${count} console messages and errors of the page, which sends too many per second`
  const timestamp = Date.now()
  const entry = { source: 'other', level: 'warning', text, timestamp }
  const call = { type: 'warning', args: [{ type: 'string', value: text }], executionContextId: 1, timestamp }
  const event = isWorker
    ? { method: 'Runtime.consoleAPICalled', params: call }
    : { method: 'Log.entryAdded', params: { entry } }
  return JSON.stringify({ ...event, sessionId })
}
