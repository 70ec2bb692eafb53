/** The input of a terminal: in raw mode while the UI is open, and without the replies to queries. */
import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type MouseEvent, splitMouse } from '../mouse.ts'

/** A query to the terminal, and its replies, which arrive among typed keys. */
export interface Query {
  readonly sequence: string
  /** Matches every reply. */
  readonly replies: RegExp
  /** Matches the last reply. */
  readonly last: RegExp
  /** Time to wait for the last reply. Replies that are later still are not keys. */
  readonly timeoutMs: number
}

/** Replies that have begun: they may also be the Escape key while they are in time, and never once they are late. */
const begun = { inTime: /\u001B(?:_[^\u001B]*\u001B?|\[[?\d;]*)?$/, late: /\u001B(?:_G[^\u001B]*\u001B?|\[\?[\d;]*)$/ }

/** The stream that ink reads from. Ignores ink's requests for raw mode, which is already set. */
export class Input extends PassThrough {
  readonly isTTY = true
  readonly #from: NodeJS.ReadStream
  #decoder = new StringDecoder('utf8')
  #open = false
  /** The query, until its last reply. */
  #query: Query | undefined
  #whenAnswered: (() => void) | undefined
  #replies = ''
  #held = ''
  readonly #onMouse: (event: MouseEvent) => void
  /** Beginning of a mouse report. */
  #partial = ''

  constructor(from: NodeJS.ReadStream, onMouse: (event: MouseEvent) => void) {
    super()
    this.#from = from
    this.#onMouse = onMouse
  }

  open(): void {
    if (this.#open) return
    this.#open = true
    this.#decoder = new StringDecoder('utf8')
    this.#from.setRawMode(true)
    this.#from.on('data', this.#onData)
    this.#from.resume()
    this.#from.ref()
  }

  /** Releases the terminal, so that other programs can read from it. */
  release(): void {
    if (!this.#open) return
    this.#open = false
    this.#from.off('data', this.#onData)
    this.#from.pause()
    this.#from.setRawMode(false)
    this.#from.unref()
  }

  readonly setRawMode = (): this => this
  readonly ref = (): this => this
  readonly unref = (): this => this

  /** Resolves with the replies that arrive in time; other input is handled as keys. */
  async readReplies(query: Query): Promise<string> {
    this.#replies = ''
    this.#query = query
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, query.timeoutMs)
      this.#whenAnswered = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#whenAnswered = undefined
    this.#pass('')
    return this.#replies
  }

  readonly #onData = (chunk: Buffer | string): void => {
    const {
      events,
      text,
      rest: partial,
    } = splitMouse(this.#partial + (typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)))
    this.#partial = partial
    for (const event of events) this.#onMouse(event)
    this.#pass(text)
  }

  /** Passes text on as keys, without the replies to the query. */
  #pass(text: string): void {
    const all = this.#held + text
    this.#held = ''
    const query = this.#query
    if (!query) return void (all && this.write(all))
    this.#replies += (all.match(query.replies) ?? []).join('')
    const rest = all.replaceAll(query.replies, '')
    // Buffer a partial reply until it is complete.
    const begin = begun[this.#whenAnswered ? 'inTime' : 'late'].exec(rest)?.index ?? rest.length
    this.#held = rest.slice(begin)
    if (begin > 0) this.write(rest.slice(0, begin))
    if (!query.last.test(this.#replies)) return
    this.#query = undefined
    this.#whenAnswered?.()
  }
}
