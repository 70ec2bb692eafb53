/**
 * What a page says faster than anybody could read is left out, before it costs the engine and its other sessions anything.
 * A page that does not stop is ended: what it says piles up in the browser's own memory, out of which all sessions live.
 */
import { limits } from '../../../core/limits/limits.ts'

/** Events that nobody waits for. */
const talk = ['"Runtime.consoleAPICalled"', '"Runtime.exceptionThrown"', '"Log.entryAdded"']

/** Where the method of a message stands, and where its session. */
const headBytes = 48
export const tailBytes = 64

interface Speaker {
  /** Messages of this second. */
  said: number
  /** Left out since the last second in which it kept within bounds: messages, and their bytes. */
  lost: number
  lostBytes: number
  /** Messages in a row that were old when they came: it says more than can be read. */
  late: number
}

export class Flood {
  readonly #speakers = new Map<string, Speaker>()
  readonly #onEndless: (sessionId: string) => void
  readonly #now: () => number
  readonly #clock: () => number
  #second = 0

  /** `onEndless` is told, once, of a protocol session whose page goes on and on. */
  constructor(
    onEndless: (sessionId: string) => void,
    now: () => number = () => performance.now(),
    clock: () => number = Date.now,
  ) {
    this.#onEndless = onEndless
    this.#now = now
    this.#clock = clock
  }

  /** A message as the browser has written it; undefined when it is left out, with a word in place of the first such. */
  heard(message: Buffer): string | undefined {
    const head = message.toString('latin1', 0, headBytes)
    if (!talk.some((method) => head.includes(method))) return message.toString()
    this.#turn()
    const session = sessionIn(message)
    let speaker = this.#speakers.get(session)
    if (!speaker) this.#speakers.set(session, (speaker = { said: 0, lost: 0, lostBytes: 0, late: 0 }))
    speaker.said += 1
    const before = isEndless(speaker)
    const beyond = speaker.said > limits.flood.messagesPerSec
    speaker.lost += beyond ? 1 : 0
    speaker.lostBytes += beyond ? message.length : 0
    speaker.late = this.#ageOf(message) > limits.flood.lateMs ? speaker.late + 1 : 0
    if (!before && isEndless(speaker)) this.#onEndless(session)
    if (!beyond) return message.toString()
    return speaker.said === limits.flood.messagesPerSec + 1 ? noticeIn(message.toString()) : undefined
  }

  /** In a new second everybody begins anew; who kept within bounds in the last one is forgotten. */
  #turn(): void {
    const second = Math.floor(this.#now() / 1000)
    if (second === this.#second) return
    this.#second = second
    for (const [session, speaker] of this.#speakers) {
      if (speaker.said > limits.flood.messagesPerSec || speaker.late > 0) speaker.said = 0
      else this.#speakers.delete(session)
    }
  }

  /** Milliseconds since the page said it; 0 of what bears no time. */
  #ageOf(message: Buffer): number {
    // Quotes within what the page says are escaped: this is the message's own.
    const at = message.lastIndexOf('"timestamp":')
    const said = Number.parseFloat(message.toString('latin1', at + 12, at + 30))
    return at === -1 || Number.isNaN(said) ? 0 : this.#clock() - said
  }
}

/** The protocol session of an event, told by its end alone; empty for one of the browser. */
export function sessionIn(message: Buffer): string {
  const tail = message.toString('latin1', Math.max(0, message.length - tailBytes))
  return /"sessionId":"([^"]+)"\}$/.exec(tail)?.[1] ?? ''
}

const isEndless = ({ lost, lostBytes, late }: Speaker): boolean =>
  lost > limits.flood.lostMessages || lostBytes > limits.flood.lostBytes || late > limits.flood.lateMessages

/** The message with what is to be told in place of what the page says; of an error there is no such place. */
function noticeIn(text: string): string | undefined {
  const message = JSON.parse(text) as { method: string; params: object }
  if (message.method !== 'Runtime.consoleAPICalled') return undefined
  const value = `bax: more than ${limits.flood.messagesPerSec} messages in a second; the rest of it is left out, and a page that goes on is ended`
  return JSON.stringify({
    ...message,
    params: { ...message.params, type: 'warning', args: [{ type: 'string', value }] },
  })
}
