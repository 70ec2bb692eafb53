/** Determines from evidence whether the input of a command has reached the page. */
import { stripVTControlCharacters } from 'node:util'
import type { Frame, Page } from 'playwright'
import type { CommandInput } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../../core/once-per.ts'
import { downloadBinding } from '../cdp/transfers.ts'
import { ownSessionOf, type Session, unlessStalled } from '../page/internals.ts'
import directScript from '../direct/direct.page.ts?inline'
import { pendingClause, requestLogOf } from '../network/request-log.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import type { InputKind, Reaction } from './input-watch.page.ts'
import watchScript from './input-watch.page.ts?inline'

/** Timeout for the page to report whether the input has reached it. */
const answerMs = 3000

type Outcome = 'delivered' | 'not_delivered' | 'unknown'

/** Lines of Playwright's call log that show that input is about to be sent, and that the page has handled it. */
const logPatterns: Readonly<Record<CommandInput['kind'], { readonly sent: RegExp; readonly done: RegExp }>> = {
  press: { sent: /performing (?:click|move and down) action/g, done: /(?:click|move and down) action done/ },
  move: { sent: /performing hover action/g, done: /hover action done/ },
  text: {
    sent: /elementHandle\.press\(|waiting for element to be visible, enabled and editable|waiting for element to be visible and enabled/g,
    done: /selected specified option/,
  },
}

/** Later lines that show that the attempt had no effect. */
const withoutEffect =
  /intercepts pointer events|^\s*-?\s*element (?:is not|is outside|is inert|was detached)|did not find some options|unknown key|option being selected is not enabled/m

/** Returns Playwright's call log, which is part of its error messages. */
const logOf = (error: unknown): string => stripVTControlCharacters(error instanceof Error ? error.message : '')

/** One command that sends input to a page. */
export class Delivery {
  readonly #input: CommandInput
  #page: Page | undefined
  #startedAt = 0
  /** Whether input was sent; whether it has arrived may be unknown. */
  #sent = false
  #arrived = false
  /** Whether an earlier attempt to select has found no such option. */
  #missedOption = false
  #rejected: readonly string[] | undefined
  #outcome: Promise<Outcome> | undefined

  constructor(input: CommandInput) {
    this.#input = input
  }

  /** Whether the command presses a button of the mouse. */
  get presses(): boolean {
    return this.#input.kind === 'press'
  }

  /** Starts to watch the page; must be called before input is sent. */
  async begin(page: Page): Promise<void> {
    this.#page = page
    await watchInput(page)
    bindDownloads(page)
    this.#startedAt = performance.now()
  }

  /** Forgets the input so far. */
  restart(): void {
    this.#startedAt = performance.now()
    this.#sent = this.#arrived = this.#missedOption = false
    this.#outcome = undefined
  }

  /** Sends input; the page has handled it when `send` resolves. */
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

  /** Records that the page has reported the arrival of the input. */
  confirmArrival(): void {
    this.#arrived = true
  }

  /** Reads the evidence in the call log of a failed Playwright action. */
  readLog(error: unknown): void {
    const log = logOf(error)
    const { sent, done } = logPatterns[this.#input.kind]
    if (done.test(log)) this.#arrived = true
    if (/did not find some options/.test(log)) this.#missedOption = true
    const last = [...log.matchAll(sent)].at(-1)
    if (last && !withoutEffect.test(log.slice(last.index))) this.#sent = true
    // Playwright checks the state after the click.
    if (/Clicking the checkbox did not change its state/.test(log)) this.#arrived = true
  }

  /** Returns the outcome; asks the page, once, if the evidence so far is not conclusive. */
  outcome(): Promise<Outcome> {
    return (this.#outcome ??= this.#find())
  }

  async #find(): Promise<Outcome> {
    if (this.#arrived) return 'delivered'
    if (!this.#sent || !this.#page) return 'not_delivered'
    const isSeen = await withDeadline(this.isSeen(), { ms: answerMs }).catch(() => undefined)
    if (isSeen) return 'delivered'
    // The time was over within a further attempt, which the page has ended before it answered.
    return isSeen === false && this.#missedOption ? 'not_delivered' : 'unknown'
  }

  /** Returns whether any document of the page has received input of this kind since the command began. */
  async isSeen(): Promise<boolean> {
    const age = this.#page ? await lastInputAge(this.#page, this.#input.kind) : null
    return age !== null && age < performance.now() - this.#startedAt
  }

  /** Messages about fields that kept a form from being submitted; undefined when the page was not asked. */
  get rejected(): readonly string[] | undefined {
    return this.#rejected
  }

  /** Records the reaction of the page, so that it is not asked for it. */
  noteReaction(rejected: readonly string[]): void {
    this.#rejected = [...new Set([...(this.#rejected ?? []), ...rejected])]
  }

  /** Reads the reaction of the page since a time; returns whether an element has lost a press, and got no click. */
  async readReaction(since = this.#startedAt): Promise<boolean> {
    const page = this.#page
    if (!page) return false
    const asking = async () => unlessStalled(page, () => callAll<Reaction>(page, 'takeReaction()'))
    // A dialog or a navigation is the effect of a click.
    const reactions = await withDeadline(asking(), { ms: answerMs }).catch(() => [])
    const isRecent = (age: number) => age < performance.now() - since
    this.noteReaction(
      reactions.flatMap(({ rejected }) => rejected.filter(({ age }) => isRecent(age)).map(({ text }) => text)),
    )
    return reactions.some(({ lostAge }) => lostAge !== null && isRecent(lostAge))
  }

  /** Returns the number of characters that have reached a field of the page; null when unknown. */
  async received(): Promise<number | null> {
    if (!this.#page) return null
    const page = this.#page
    const asking = receivedWithin(page, () => performance.now() - this.#startedAt)
    return withDeadline(asking, { ms: answerMs }).catch(() => null)
  }

  /** Returns the error of an action whose input has arrived, or may have; undefined when none was sent. */
  async failure(selector: string, cause: unknown): Promise<BaxError | undefined> {
    const outcome = await this.outcome()
    if (outcome === 'not_delivered') return undefined
    return this.describe(new BaxError('timeout', '', { details: { selector }, cause }))
  }

  /** Adds to an error of the command what is known about its input. */
  async describe(error: BaxError): Promise<BaxError> {
    const outcome = await this.outcome()
    const known = outcome === 'unknown' ? { outcome } : { delivered: outcome === 'delivered' }
    const details = { ...(Array.isArray(error.details) ? {} : error.details), ...known }
    const { noun } = this.#input
    const late = {
      delivered: `the ${noun} was delivered, but the page did not settle in time${this.#pending()}`,
      unknown: `the ${noun} was sent, but the page did not answer in time: it may have been delivered${this.#pending()}`,
      not_delivered: error.message,
    }
    const message = error.code === 'timeout' ? late[outcome] : error.message
    return new BaxError(error.code, message, { ...(error.hint && { hint: error.hint }), details, cause: error })
  }

  /** Names the requests since the command began that are pending. */
  #pending(): string {
    return this.#page ? pendingClause(requestLogOf(this.#page.context()).pendingSince(this.#startedAt)) : ''
  }
}

type Target = Page | Frame

/** Isolated world of the listeners, and of the direct actions. */
export const worldName = 'bax_input'
/** Timeout for installing the listeners; actions do not wait longer for a busy page. */
const installMs = 500

/** Installs the listeners in all documents of a page, now and after navigations. */
export async function watchInput(page: Page): Promise<void> {
  const installing = Promise.all(targetsOf(page).map(install))
  await withDeadline(installing, { ms: installMs, value: undefined })
}

/** Returns the milliseconds since the latest input of a kind in any document of the page; null when there was none. */
async function lastInputAge(page: Page, kind: InputKind): Promise<number | null> {
  const ages = await callAll<number>(page, `lastInputAge(${JSON.stringify(kind)})`)
  return ages.length > 0 ? Math.min(...ages) : null
}

/** Returns the number of characters that have reached a field of the page within a time; null when unknown. */
async function receivedWithin(page: Page, elapsedMs: () => number): Promise<number | null> {
  const ages = await callAll<number[]>(page, 'characterAges()')
  return ages.length > 0 ? ages.flat().filter((age) => age < elapsedMs()).length : null
}

/** Returns the page and its frames, since frames with their own process have their own session. */
const targetsOf = (page: Page): Target[] => [page, ...page.frames().slice(1)]

/** Installs the listeners in a new page ahead of its first document, so that they precede all of its own. */
export const watchFirstDocument = (page: Page): Promise<void> => install(page)

async function install(target: Target): Promise<void> {
  try {
    const own = 'mainFrame' in target ? ownSessionOf(target) : null
    await watchDocuments(own ?? (await cdpSessionOf(target)))
  } catch {
    // Frames without their own session are watched through their page; closed targets need no watch. Without a watch,
    // the arrival of input is reported as unknown.
  }
}

const watchDocuments = oncePer(async (session: Session) => {
  const source = `;${directScript}; __bax_module.installDirect(); ${watchScript}; __bax_module.watchInput()`
  await Promise.all([
    // Scripts for new documents run only while the Page domain is enabled.
    session.send('Page.enable'),
    session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName, runImmediately: true }),
  ])
})

/**
 * Lets the listeners report clicks on links to downloads. Only reaches documents that exist: for later ones the browser
 * would have to report all contexts and console messages on this session, too.
 */
function bindDownloads(page: Page): void {
  const bind = async (target: Target) => {
    const session = await cdpSessionOf(target)
    await session.send('Runtime.addBinding', { name: downloadBinding, executionContextName: worldName })
  }
  const documents = documentsOf(page)
  if (documents.areBound) return
  documents.areBound = true
  // Not awaited: the input is sent later. Without it, a download is reported only if it starts at once.
  for (const target of targetsOf(page)) bind(target).catch(() => {})
}

/** Whether all documents of a page have the binding. */
const documentsOf = oncePer((page: Page) => {
  const documents = { areBound: false }
  const onNew = () => void (documents.areBound = false)
  page.on('frameattached', onNew).on('framenavigated', onNew)
  return documents
})

/** Calls a function in all documents of a page; returns the results other than null. */
async function callAll<T>(page: Page, call: string): Promise<T[]> {
  const answers = await Promise.all(targetsOf(page).map((target) => callTarget<T>(target, call)))
  return answers.flat().filter((answer) => answer !== null)
}

async function callTarget<T>(target: Target, call: string): Promise<(T | null)[]> {
  try {
    const session = await cdpSessionOf(target)
    const { frameTree } = await session.send('Page.getFrameTree')
    return await Promise.all(framesOf(frameTree).map((frameId) => callFrame<T>(session, frameId, call)))
  } catch {
    // As for the installation, a failure means unknown.
    return []
  }
}

interface FrameTree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly FrameTree[]
}

const framesOf = ({ frame, childFrames = [] }: FrameTree): string[] => [frame.id, ...childFrames.flatMap(framesOf)]

async function callFrame<T>(session: Session, frameId: string, call: string): Promise<T | null> {
  // Returns the existing world of this name, which has the listeners.
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName })
  const expression = `;${watchScript}; __bax_module.${call}`
  const { result } = await session.send('Runtime.evaluate', { contextId, expression, returnByValue: true })
  return (result.value as T | undefined) ?? null
}
