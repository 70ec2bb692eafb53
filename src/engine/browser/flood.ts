/** What a page says faster than anybody could read is left out, before it costs the engine and its other sessions anything. */
import { limits } from '../../core/limits.ts'

/** Events that nobody waits for. */
const talk = ['"Runtime.consoleAPICalled"', '"Runtime.exceptionThrown"', '"Log.entryAdded"']

/** Where the method of a message stands, and where its session. */
const headBytes = 48
const tailBytes = 64

export class Flood {
  /** Messages of this second, by the session that they came on. */
  readonly #said = new Map<string, number>()
  readonly #now: () => number
  #second = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether a message as the browser has written it is to be heard. */
  passes(message: Buffer): boolean {
    const head = message.toString('latin1', 0, headBytes)
    if (!talk.some((method) => head.includes(method))) return true
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#said.clear()
    }
    const tail = message.toString('latin1', Math.max(0, message.length - tailBytes))
    const session = /"sessionId":"([^"]+)"\}$/.exec(tail)?.[1] ?? ''
    const said = (this.#said.get(session) ?? 0) + 1
    this.#said.set(session, said)
    return said <= limits.session.messagesPerSec
  }
}
