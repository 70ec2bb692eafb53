/** Actions on elements: Playwright waits and acts; a diagnosis in the page explains failures. */
import type { Locator, Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import type { Directly } from '../../../core/operation/direct-element.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { tryDirectly } from '../direct/direct.ts'
import type { Delivery } from '../input/delivery.ts'
import { untilPressed } from '../input/until-pressed.ts'
import { isNavigating, isParsing } from '../page/internals.ts'
import { untilParsed } from '../page/parsed-document.ts'
import { listFunction, pageFunction } from '../page/page-function.ts'
import { isGone } from '../page/playwright-errors.ts'
import { untilListening } from '../tabs/until-listening.ts'
import candidatesScript from './candidates.page.ts?inline'
import { stillDisabled } from './enabled.ts'
import { explain } from './explain.ts'
import type * as similar from './nearest.page.ts'
import nearestScript from './nearest.page.ts?inline'
import {
  evaluateAll,
  locateAll,
  type ParsedSelector,
  parseSelector,
  rootOf,
  selectorInMain,
  staleRef,
} from './selectors.ts'

/** Minimum timeout, so that Playwright can check the page at least once. */
const minMs = 250

/** Returns the timeout options of a Playwright call. */
export const callLimit = (timeoutMs: number | undefined, signal: AbortSignal): CallLimit => ({
  timeout: Math.max(minMs, timeoutMs ?? limits.command.elementMs),
  signal,
})

/** The chosen element, and the number of matches. */
export interface Picked {
  readonly element: Locator
  readonly matches: number
  /** Which of the matches it is, for messages. */
  readonly which: 'first' | 'first visible'
}

/** Context of a command's actions. */
export interface ActionContext {
  readonly page: Page
  readonly signal: AbortSignal
  readonly strict: boolean
  /** Whether actions may be performed without Playwright. */
  readonly direct: boolean
  /** Set for commands that send input. */
  readonly delivery: Delivery | undefined
  /** Called when there are several matches. */
  readonly onMatches: (picked: Pick<Picked, 'matches' | 'which'>) => void
  /** Called after an action without Playwright. */
  readonly onDirect: () => void
  /** Describes the element of a selector before the action changes it; resolves in any case. */
  readonly describe: ((selector: string, element: Locator) => Promise<void>) | undefined
}

/** Runs an action on the first visible match of a selector, else the first. @throws BaxError that explains why not. */
export async function act<T>(
  context: ActionContext,
  selector: string,
  action: (element: Locator, limit: CallLimit) => Promise<T>,
  options: ActOptions & Directly<T> = {},
): Promise<T> {
  const { page, signal, strict, delivery, onMatches, onDirect, describe } = context
  const { needs = 'present', direct } = options
  const parsed = parseSelector(selector)
  const limit = callLimit(options.timeoutMs, signal)
  let started = performance.now()
  /** Runs work whose time is not that of the action. */
  const untimed = async (work: () => Promise<void>) => {
    const before = performance.now()
    await work()
    started += performance.now() - before
  }
  let picked: Picked | undefined
  try {
    const query = selectorInMain(locateAll(page, parsed))
    const facts = { page, selector, query, strict, needs, delivery, limit }
    if (describe)
      await untimed(() => describe(selector, parsed.ref ? locateAll(page, parsed) : firstVisible(page, parsed)))
    const done = direct && context.direct ? await tryDirectly({ ...facts, action: direct }) : undefined
    if (done && done.matches > 1) onMatches({ matches: done.matches, which: 'first visible' })
    if (done) onDirect()
    if (done) return done.value
    if (parsed.ref) await checkRef(locateAll(page, parsed).first(), selector, parsed)
    picked = await pickElement(context, selector, options, limit)
    if (picked.matches > 1) onMatches(picked)
    if (delivery) await untilDocumentListens(picked.element, limit)
    // An element that has only appeared now.
    if (describe) await untimed(() => describe(selector, picked!.element))
    const { enabled = needs === 'editable' } = options
    const disabled = enabled ? await stillDisabled(picked.element, { ...options, needs }, limit) : undefined
    if (disabled) throw stillDisabledError(disabled)
    const { element } = picked
    const left = () => Math.round(limit.timeout - (performance.now() - started))
    const press = () => action(element, { ...limit, timeout: Math.max(minMs, left()) })
    return await untilPressed(press, { delivery: delivery?.presses ? delivery : undefined, selector, left })
  } catch (error) {
    delivery?.readLog(error)
    if (error instanceof BaxError) throw error
    signal.throwIfAborted()
    const sent = isLate(error) ? await delivery?.failure(selector, error) : undefined
    throw sent ?? (await explain(error, { page, selector, ...options, picked, timeoutMs: limit.timeout }))
  }
}

/** Waits for the scripts of the page and of the frame of an element, which may have come while it was waited for. */
async function untilDocumentListens(element: Locator, limit: CallLimit): Promise<void> {
  const page = element.page()
  const ms = Math.min(limit.timeout, limits.session.downloadStartMs)
  await untilListening(page, ms, limit.signal)
  const isInFrame = selectorInMain(element) === undefined
  if (!isInFrame || !page.frames().some((frame) => frame !== page.mainFrame() && isParsing(frame))) return
  const frame = await (await element.elementHandle(limit)).ownerFrame()
  if (frame && isParsing(frame)) await untilParsed(frame, ms)
}

const firstVisible = (page: Page, parsed: ParsedSelector): Locator =>
  locateAll(page, parsed).filter({ visible: true }).first()

/** Builds an error like that of Playwright for an element that does not become enabled, which is explained like it. */
const stillDisabledError = (what: keyof typeof disabledMessages) =>
  Object.assign(new Error(disabledMessages[what]), { name: 'TimeoutError' })

const disabledMessages = {
  element: 'element is not enabled',
  option: 'option being selected is not enabled',
  text: 'element is not editable',
}

/** Returns whether input may have been sent before an error: a timeout, or a detached element. */
const isLate = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || /not attached to the DOM|was detached/.test(error.message))

/** Checks that the element of a reference still exists: waiting would not bring it back. */
async function checkRef(element: Locator, selector: string, parsed: ParsedSelector): Promise<void> {
  const found = await element.count().catch((error: unknown) => {
    if (/Invalid frame in aria-ref/.test(String(error))) return 0
    throw error
  })
  if (found === 0) throw staleRef(selector, parsed)
}

const describeMatches = listFunction<similar.Candidate[], null>(candidatesScript, 'describeMatches')

/** Waits for a match; returns the first visible one, else the first. @throws BaxError; Playwright's TimeoutError. */
async function pickElement(
  { page, strict }: ActionContext,
  selector: string,
  { needs, mayBeHidden = false }: ActOptions,
  limit: CallLimit,
): Promise<Picked> {
  const all = locateAll(page, parseSelector(selector))
  let matches = await count(all, limit)
  if (matches === 0) {
    // Names are no selectors, and no page is open: waiting does not help.
    const timeout = (await isOnlyName(page, selector)) || (await isBlank(page)) ? 1 : limit.timeout
    await all.first().waitFor({ state: 'attached', ...limit, timeout })
    matches = await count(all, limit)
  }
  if (matches < 2) return { element: all.first(), matches, which: 'first' }
  if (strict) throw await ambiguous(page, selector, matches)
  const visible = all.filter({ visible: true })
  // Wait for a visible match only if needed: hidden file fields, for example, are usable.
  const waits = !mayBeHidden && (needs === 'visible' || needs === 'pointer')
  if (!waits && (await count(visible, limit)) === 0) return { element: all.first(), matches, which: 'first' }
  return { element: visible.first(), matches, which: 'first visible' }
}

const isName = pageFunction<typeof similar.isName>(nearestScript, 'isName')

/** Returns whether a selector is a name, which matches nothing however long one waits. */
async function isOnlyName(page: Page, selector: string): Promise<boolean> {
  const parsed = parseSelector(selector)
  if (parsed.ref !== null) return false
  try {
    return await rootOf(page, parsed).evaluate(isName, parsed.inner, { timeout: answerMs })
  } catch {
    // The page navigates or does not answer, which the wait reports.
    return false
  }
}

/** Returns whether no page is open, and nothing that could become one. */
async function isBlank(page: Page): Promise<boolean> {
  if (page.url() !== 'about:blank' || isNavigating(page) || page.frames().length > 1) return false
  // A page writes into the tab that it has opened.
  if (await page.opener()) return false
  const isEmpty = page.evaluate(() => document.body?.childNodes.length === 0 && !document.title)
  // A page that navigates meanwhile is not blank.
  return withDeadline(isEmpty, { ms: answerMs, value: false }).catch(() => false)
}

/** Minimum timeout before a page counts as hung. */
const answerMs = 2000

/** Counts matches, none if the page navigates meanwhile. @throws Error named `TimeoutError`, like Playwright. */
async function count(all: Locator, { timeout, signal }: CallLimit): Promise<number> {
  const ms = Math.max(timeout, answerMs)
  try {
    return await withDeadline(all.count(), { ms, error: `the page did not answer within ${ms} ms` })
  } catch (error) {
    signal.throwIfAborted()
    if (isGone(error) && !all.page().isClosed()) return 0
    if (!(error instanceof BaxError)) throw error
    throw Object.assign(new Error(error.message, { cause: error }), { name: 'TimeoutError' })
  }
}

async function ambiguous(page: Page, selector: string, matched: number): Promise<BaxError> {
  const candidates = await evaluateAll(page, selector, describeMatches, null)
  const names = candidates.map(({ element }) => element).join(', ')
  const more = matched > candidates.length ? ', …' : ''
  return new BaxError('ambiguous_selector', `${selector} matches ${matched} elements: ${names}${more}`, {
    details: { selector, matched, candidates },
  })
}
