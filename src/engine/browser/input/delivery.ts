/** Finds out whether the input of a command has reached the page, from evidence only. */
import { stripVTControlCharacters } from 'node:util'
import type { Page } from 'playwright'
import type { CommandInput } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { lastInputAge, receivedWithin, watchInput } from './input-watch.ts'

/** How long a page may take to say whether the input has reached it. */
const answerMs = 3000

type Outcome = 'delivered' | 'not_delivered' | 'unknown'

/** Lines of Playwright's call log: input is about to be sent, and the page has handled it. */
const sendings: Readonly<Record<CommandInput['kind'], { readonly sent: RegExp; readonly done: RegExp }>> = {
  press: { sent: /performing (?:click|move and down) action/g, done: /(?:click|move and down) action done/ },
  move: { sent: /performing hover action/g, done: /hover action done/ },
  text: {
    sent: /elementHandle\.press\(|waiting for element to be visible, enabled and editable|waiting for element to be visible and enabled/g,
    done: /selected specified option/,
  },
}

/** Lines after a sending that say that the attempt has ended without any effect. */
const withoutEffect =
  /intercepts pointer events|^\s*-?\s*element (?:is not|is outside|is inert|was detached)|did not find some options|option being selected is not enabled/m

/** Playwright's call log is part of its messages. */
const logOf = (error: unknown): string => stripVTControlCharacters(error instanceof Error ? error.message : '')

/** One command that sends input to a page. */
export class Delivery {
  readonly #input: CommandInput
  #page: Page | undefined
  #startedAt = 0
  /** Input was sent, and it is not known what became of it. */
  #sent = false
  #arrived = false
  #outcome: Promise<Outcome> | undefined

  constructor(input: CommandInput) {
    this.#input = input
  }

  /** Begins to watch the page; to be called before anything is sent to it. */
  async begin(page: Page): Promise<void> {
    this.#page = page
    await watchInput(page)
    this.#startedAt = performance.now()
  }

  /** Sends input that the page has handled when `send` is done. */
  async send<T>(send: () => Promise<T>): Promise<T> {
    this.#sent = true
    try {
      const result = await send()
      this.#arrived = true
      return result
    } catch (error) {
      if (withoutEffect.test(logOf(error))) this.#sent = false
      throw error
    }
  }

  /** Takes the evidence from the call log of a Playwright action that has failed. */
  readLog(error: unknown): void {
    const log = logOf(error)
    const { sent, done } = sendings[this.#input.kind]
    if (done.test(log)) this.#arrived = true
    const last = [...log.matchAll(sent)].at(-1)
    if (last && !withoutEffect.test(log.slice(last.index))) this.#sent = true
    // A checkbox is inspected again after it was clicked.
    if (/Clicking the checkbox did not change its state/.test(log)) this.#arrived = true
  }

  /** Asks the page where the evidence so far leaves it open; the answer stays the same. */
  outcome(): Promise<Outcome> {
    return (this.#outcome ??= this.#find())
  }

  async #find(): Promise<Outcome> {
    if (this.#arrived) return 'delivered'
    if (!this.#sent || !this.#page) return 'not_delivered'
    const asking = lastInputAge(this.#page, this.#input.kind)
    const age = await withDeadline(asking, { ms: answerMs }).catch(() => null)
    return age !== null && age < performance.now() - this.#startedAt ? 'delivered' : 'unknown'
  }

  /** Number of characters that have reached a field of the page; null when the page does not say. */
  async received(): Promise<number | null> {
    if (!this.#page) return null
    const page = this.#page
    const asking = receivedWithin(page, () => performance.now() - this.#startedAt)
    return withDeadline(asking, { ms: answerMs }).catch(() => null)
  }

  /** The failure of an action whose input has arrived, or may have; undefined when it has not been sent. */
  async failure(selector: string, cause: unknown): Promise<BaxError | undefined> {
    const outcome = await this.outcome()
    if (outcome === 'not_delivered') return undefined
    return this.describe(new BaxError('timeout', '', { details: { selector }, cause }))
  }

  /** A failure of the command with what is known of its input. */
  async describe(error: BaxError): Promise<BaxError> {
    const outcome = await this.outcome()
    const known = outcome === 'unknown' ? { outcome } : { delivered: outcome === 'delivered' }
    const details = { ...(Array.isArray(error.details) ? {} : error.details), ...known }
    const message = error.code === 'timeout' ? (this.#sentence(outcome) ?? error.message) : error.message
    return new BaxError(error.code, message, { ...(error.hint && { hint: error.hint }), details, cause: error })
  }

  #sentence(outcome: Outcome): string | undefined {
    const { noun } = this.#input
    if (outcome === 'delivered') return `the ${noun} was delivered, but the page did not settle in time`
    if (outcome === 'unknown')
      return `the ${noun} was sent, but the page did not answer in time: it may have been delivered`
    return undefined
  }
}
