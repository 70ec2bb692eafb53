/** An element that an action works on over CDP: one call checks it, the next sends the input, the last confirms it. */
import type { Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import type { DirectElement } from '../../../core/operation/direct-element.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { Delivery } from '../input/delivery.ts'
import {
  afterNavigations,
  clickAt,
  injectedIn,
  isNavigating,
  moveTo,
  pressAll,
  unlessStalled,
} from '../page/internals.ts'
import type { ClickOptions } from '../page/internals.ts'
import { reactionToKeys } from './key-listeners.ts'
import type { DirectSelector } from './plain-selector.ts'
import type { Confirmation, DirectAnswer, DirectRequest, WatchedInput } from './request.ts'
import { Unclear } from '../page/unclear.ts'
import { directWorldOf, isWorldGone } from './world.ts'

/** Time for the checks: a busy page is left to Playwright. */
const checkMs = 500
/** Time for a report of the page that is on its way when the page navigates or opens a dialog. */
const reportMs = 1000

/** Text of a function that returns the match of a selector if it is the only one. */
const onlyMatch = `(injected, query) => {
  const [element, second] = injected.querySelectorAll(injected.parseSelector(query), document)
  return element && !second ? element : null
}`

let lastId = 0

export interface DirectFacts {
  readonly page: Page
  readonly selector: string
  readonly found: DirectSelector
  readonly strict: boolean
  readonly needs: NonNullable<ActOptions['needs']>
  readonly delivery: Delivery | undefined
  readonly limit: CallLimit
}

/** Methods throw `Unclear` when they have not acted, or when Playwright would repeat the action. */
export class PageElement implements DirectElement {
  /** Number of matches of the selector. */
  matches = 1
  readonly #facts: DirectFacts
  readonly #id = ++lastId
  /** Whether the page keeps the element for further calls. */
  #held = false

  constructor(facts: DirectFacts) {
    this.#facts = facts
  }

  evaluate<Output, Input>(work: (element: Element, input: Input) => Output, input: Input) {
    return this.#evaluate<Output>(String(work), input)
  }

  evaluateEach(works: readonly ((element: Element) => unknown)[]) {
    const list = `[${works.map((work) => `(${work})`).join(', ')}]`
    return this.#evaluate<unknown[]>(`(element) => {
      const results = []
      for (const work of ${list}) {
        results.push(work(element))
        if (results.at(-1) === false || results.at(-1) === null) break
      }
      return results
    }`)
  }

  async #evaluate<Output>(work: string, input?: unknown): Promise<Output> {
    const { value } = this.#held ? await this.#again(work, input) : await this.#run({}, work, input)
    this.#held = true
    return value as Output
  }

  async click(how: ClickOptions = {}): Promise<void> {
    const { page } = this.#facts
    const { point } = await this.#run({ input: 'press' })
    const confirmed = await this.#send(
      (signal) => clickAt(page, point!, how, signal),
      (signal, sending) => afterNavigations(page, signal, sending),
    )
    // Playwright looks for its new place, and presses it again.
    if (confirmed?.lost) throw new Unclear('it moved while it was pressed')
  }

  async hover(): Promise<void> {
    const { page } = this.#facts
    const { point } = await this.#run({ input: 'move' })
    await this.#send((signal) => moveTo(page, point!, signal))
  }

  async setChecked(checked: boolean): Promise<void> {
    const { page } = this.#facts
    const { point } = await this.#run({ input: 'press', checked })
    if (!point) return
    const confirmed = await this.#send((signal) => clickAt(page, point, {}, signal))
    // The change has submitted a form, for example.
    if (!confirmed) return
    // Playwright repeats the action on the element that has replaced it, unless that is checked.
    if (!confirmed.connected) throw new Unclear('it was replaced')
    // The message of Playwright, which is explained like its own.
    if (confirmed.checked !== checked) throw new Error('Clicking the checkbox did not change its state')
  }

  async keys(names: readonly string[]): Promise<void> {
    const { page, limit } = this.#facts
    const press = async (signal: AbortSignal) =>
      pressAll(page, names, names.length > 1 ? await reactionToKeys(page) : 'always', signal)
    await withDeadline(press, { signal: limit.signal })
  }

  async press(send: () => Promise<void>): Promise<void> {
    const { page, delivery } = this.#facts
    await this.#limited((signal) => afterNavigations(page, signal, () => (delivery ? delivery.send(send) : send())))
  }

  unclear(reason: string): never {
    throw new Unclear(reason)
  }

  /** Checks the element, and runs a function on it or prepares its input. */
  async #run(more: { input?: WatchedInput; checked?: boolean }, work?: string, input?: unknown) {
    const { page } = this.#facts
    if (isNavigating(page)) throw new Unclear('the page navigates')
    const answer = await withDeadline(this.#runFirst(this.#request(more), work, input), {
      ms: checkMs,
      error: () => new Unclear('the page is busy'),
      signal: this.#facts.limit.signal,
    }).catch((error: unknown) => {
      // The page may prepare for input that is never sent, and would withhold later input.
      if (more.input) this.#endWatch()
      throw isWorldGone(error) ? new Unclear('the page navigated') : error
    })
    return this.#clear(answer)
  }

  async #runFirst(request: DirectRequest, work?: string, input?: unknown): Promise<DirectAnswer> {
    const { found, page } = this.#facts
    const world = directWorldOf(page)
    if ('plain' in found) return world.run({ ...request, plain: found.plain }, work, input)
    if (this.#held) return world.runAgain(request, work, input)
    const injected = await injectedIn(page)
    const node = await injected?.nodeOf(onlyMatch, found.query)
    if (node === undefined) throw new Unclear('no match, or several')
    return world.runOn(node, request, work, input)
  }

  /** Ends the watch for input as soon as the page answers. A document that is gone has none. */
  #endWatch(): void {
    directWorldOf(this.#facts.page)
      .confirm(this.#id)
      .catch(() => {})
  }

  /** Runs a function on the element that was checked before; it may have changed the page when it fails. */
  async #again(work: string, input: unknown) {
    const { page } = this.#facts
    return this.#clear(await this.#limited(() => directWorldOf(page).runAgain(this.#request({}), work, input)))
  }

  #request(more: Partial<DirectRequest>): DirectRequest {
    const { strict, needs } = this.#facts
    return { id: this.#id, strict, needs, until: Date.now() + checkMs, ...more }
  }

  #clear(answer: DirectAnswer) {
    if ('unclear' in answer) throw new Unclear(answer.unclear)
    this.matches = answer.matches
    return answer
  }

  /** Sends input that the page is watched for; returns the confirmation, unless the page has navigated. */
  async #send(
    send: (signal: AbortSignal) => Promise<void>,
    around = (_: AbortSignal, sending: () => Promise<void>) => sending(),
  ): Promise<Confirmation | undefined> {
    const { page, delivery } = this.#facts
    let confirming: Promise<Confirmation | undefined> | undefined
    const work = async (signal: AbortSignal) => {
      await around(signal, async () => {
        await send(signal)
        confirming = this.#confirm()
        // Awaited later, since the page can answer while navigations are waited for.
        confirming.catch(() => {})
      })
      return confirming
    }
    try {
      return await this.#limited((signal) => delivery!.send(() => work(signal)))
    } catch (error) {
      if ((await directWorldOf(page).reportedVerdict(this.#id, 0)) === 'hit') delivery!.confirmArrival()
      // It would withhold later input, too.
      this.#endWatch()
      throw error
    }
  }

  async #confirm(): Promise<Confirmation | undefined> {
    const { page, selector, delivery } = this.#facts
    const world = directWorldOf(page)
    const confirmed = await unlessStalled(page, () => world.confirm(this.#id)).catch((error: unknown) => {
      if (page.isClosed() || isWorldGone(error) || /navigation|dialog/i.test(String(error))) return undefined
      throw error
    })
    delivery?.noteReaction(confirmed?.rejected ?? [])
    const verdict = confirmed?.verdict ?? (await world.reportedVerdict(this.#id, confirmed ? 0 : reportMs))
    if (verdict === 'hit') return confirmed
    // The words of Playwright's log for input that was withheld.
    if (verdict === 'missed') throw new Unclear('something else intercepts pointer events')
    if (confirmed && !(await delivery!.isSeen())) throw new Unclear('nothing received it: intercepts pointer events')
    const [code, why] = confirmed
      ? (['element_obscured', 'was covered by a frame, which received the input'] as const)
      : (['element_detached', 'was replaced with its page before the input reached it'] as const)
    throw new BaxError(code, `${selector} ${why}`, { details: { selector } })
  }

  #limited<T>(work: (signal: AbortSignal) => Promise<T>, { timeout, signal } = this.#facts.limit): Promise<T> {
    // Named like Playwright's, which is how callers recognize it.
    const late = () => Object.assign(new Error(`Timeout ${timeout}ms exceeded.`), { name: 'TimeoutError' })
    return withDeadline(work, { ms: timeout, error: late, signal })
  }
}
