/** The keys of a terminal: raw while the UI is there, free for others while it is not, without what the terminal answers. */
import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

interface Question {
  readonly pattern: RegExp
  readonly isWhole: (answers: string) => boolean
  readonly done: () => void
}

/** What ink reads from: it may ask for raw mode, which is there already. */
export class Input extends PassThrough {
  readonly isTTY = true
  readonly #from: NodeJS.ReadStream
  #decoder = new StringDecoder('utf8')
  #open = false
  #question: Question | undefined
  #answers = ''
  #held = ''

  constructor(from: NodeJS.ReadStream) {
    super()
    this.#from = from
  }

  open(): void {
    if (this.#open) return
    this.#open = true
    this.#decoder = new StringDecoder('utf8')
    this.#from.setRawMode(true)
    this.#from.on('data', this.#hear)
    this.#from.resume()
    this.#from.ref()
  }

  /** Lets go of the terminal; others can read from it. */
  closeTerminal(): void {
    if (!this.#open) return
    this.#open = false
    this.#from.off('data', this.#hear)
    this.#from.pause()
    this.#from.setRawMode(false)
    this.#from.unref()
  }

  setRawMode(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  /** What matches among the input from now on, within so many milliseconds; the rest goes on as keys. */
  async answers(pattern: RegExp, isWhole: Question['isWhole'], withinMs: number): Promise<string> {
    this.#answers = ''
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        const rest = this.#held
        this.#question = undefined
        this.#held = ''
        if (rest) this.write(rest)
        resolve(this.#answers)
      }
      const timer = setTimeout(done, withinMs)
      this.#question = { pattern, isWhole, done }
    })
  }

  readonly #hear = (chunk: Buffer | string): void => {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const question = this.#question
    if (!question) return void this.write(text)
    const all = this.#held + text
    this.#answers += (all.match(question.pattern) ?? []).join('')
    const rest = all.replaceAll(question.pattern, '')
    // What may be the beginning of an answer waits for the rest of it.
    const begin = /\u001B(?:_[^\u001B]*\u001B?|\[[?\d;]*)?$/.exec(rest)?.index ?? rest.length
    this.#held = rest.slice(begin)
    if (begin > 0) this.write(rest.slice(0, begin))
    if (question.isWhole(this.#answers)) question.done()
  }
}
