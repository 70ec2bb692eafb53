/** Terminates scripts that keep a page busy beyond their timeout, so that the page can be used again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession, Frame, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { ownSessionOf, pendingDocument, type Session } from './internals.ts'
import { hasOpenDialog } from './open-dialogs.ts'
import { isGone } from './playwright-errors.ts'
import { renewScripts } from './renew-scripts.ts'

export interface ScriptLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Time in which a page has to respond before its script is terminated. */
const answerMs = 250

/** The same before a navigation, when only the script of the old page is lost. */
const leavingMs = 1000

/** Interval of checks, during a navigation, whether the old page responds. */
const leaveCheckMs = 500

/** Time to free all frames of a page: before a navigation, which can use another tab, and after an evaluation. */
const freeingMs = 2000
const abortingMs = 5000

/** Time until Playwright knows that a navigation was stopped. */
const stoppingMs = 1000

type Target = Page | Frame
const sessions = new WeakMap<Target, Promise<CDPSession>>()

/** Returns the protocol session of a page, or of a frame with its own process; opened once. */
export function cdpSessionOf(target: Target): Promise<CDPSession> {
  let session = sessions.get(target)
  if (!session) {
    const page = 'mainFrame' in target ? target : target.page()
    session = page.context().newCDPSession(target)
    const forget = () => sessions.delete(target)
    session.then((opened) => opened.once('close', forget), forget)
    sessions.set(target, session)
  }
  return session
}

/** Returns the session of a page whose calls cost least. */
const sessionOf = async (page: Page): Promise<Session> => ownSessionOf(page) ?? cdpSessionOf(page)

/** Recognizes the error for frames that share the thread, and so the session, of their page. */
const sharesThread = (error: unknown) => /does not have a separate CDP session/.test(String(error))

/** Opens the sessions that can terminate scripts of the page and its frames: a hung thread accepts no new session. */
export async function prepareToTerminate(page: Page): Promise<void> {
  await Promise.all(
    [page, ...page.frames().slice(1)].map((target) =>
      cdpSessionOf(target).catch((error: unknown) => {
        if (!sharesThread(error) && !isGone(error)) throw error
      }),
    ),
  )
}

const hung = Symbol('hung')

/**
 * Navigates a page with `go`. If the page hangs, before or during the navigation, terminates its script, or replaces
 * the page by a new tab and runs `go` again there, since a navigation waits for the page that it replaces.
 */
export async function navigateAway<T>(page: Page, go: (page: Page) => Promise<T>): Promise<T> {
  await stopNavigation(page)
  const free = await freeToLeave(page)
  const left = new AbortController()
  const onNavigated = (frame: Frame) => frame === free.mainFrame() && left.abort()
  free.on('framenavigated', onNavigated)
  try {
    // If the page hangs, this navigation fails when its tab is closed; the race ignores that rejection.
    const first = await Promise.race([go(free), untilHung(free, left.signal)])
    if (first !== hung) return first
  } finally {
    left.abort()
    free.off('framenavigated', onNavigated)
  }
  return go(await replacePage(free))
}

/** Resolves when the old page neither responds nor can be freed; never after the navigation (`left`). */
async function untilHung(page: Page, left: AbortSignal): Promise<typeof hung> {
  while (!left.aborted && !page.isClosed()) {
    // Aborted after the navigation.
    await pause(leaveCheckMs, undefined, { signal: left }).catch(() => {})
    // The next document must not be terminated.
    const responds = left.aborted || (await isResponsive(page, left).catch(unlessAborted(left)))
    if (!responds && !left.aborted) return hung
  }
  return new Promise<never>(() => {})
}

/**
 * Runs `work`; on timeout or abort, terminates the script that keeps the page busy. After that, nothing may be sent to
 * the page: `work` checks its signal before each call.
 */
export async function terminateAfter<T>(
  page: Page,
  limits: ScriptLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs, signal } = limits
  const late = new BaxError('timeout', `the evaluation timed out after ${timeoutMs} ms`)
  try {
    return await withDeadline(work, { ms: timeoutMs, error: () => late, signal })
  } catch (error) {
    if (error !== late && !(signal.aborted && error === signal.reason)) throw error
    const freed = (over: AbortSignal) =>
      Promise.all([page, ...page.frames().slice(1)].map((target) => free(target, over)))
    await withDeadline(freed, { ms: abortingMs, value: undefined })
    throw signal.aborted ? signal.reason : late
  }
}

/**
 * Terminates a script that keeps a page busy before a navigation: Chromium cannot leave an unresponsive page.
 * Returns the page, or a new one in its place: after a navigation has started, a hung script cannot be terminated.
 */
export async function freeToLeave(page: Page): Promise<Page> {
  return page.url() === 'about:blank' || (await isResponsive(page)) ? page : replacePage(page)
}

/** Stops a navigation that waits for its server: until it arrives, a page answers nothing. */
async function stopNavigation(page: Page): Promise<void> {
  const pending = pendingDocument(page)
  if (!pending) return
  const session = await sessionOf(page)
  // Chromium refuses it for a page that hangs while the next one has arrived; what follows reports a closed page.
  await session.send('Page.stopLoading').catch(() => {})
  // Playwright would take the end of this navigation for that of the next one.
  for (let waited = 0; pendingDocument(page) === pending && waited < stoppingMs; waited += 10) await pause(10)
}

/** Resolves when a page responds. A rejection is a response too, such as by its CSP or a pending navigation. */
export const responseOf = (page: Page): Promise<true> =>
  sessionOf(page)
    .then((session) => session.send('Runtime.evaluate', { expression: '0' }))
    .then(yes, yes)

const yes = () => true as const

/** Returns a handler that accepts the error of an aborted signal. */
const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
  return true
}

/**
 * Returns whether a page can be left, if necessary after terminating its script. While a navigation is pending, a page
 * that is not hung answers the termination, and no other call. @throws the reason of the signal
 */
async function isResponsive(page: Page, signal?: AbortSignal): Promise<boolean> {
  if (hasOpenDialog(page)) return true
  const until = signal ? { signal } : {}
  if (await withDeadline(responseOf(page), { ms: leavingMs, value: false, ...until })) return true
  const freed = (over: AbortSignal) => free(page, over, { once: true }).then(yes)
  return withDeadline(freed, { ms: freeingMs, value: false, ...until })
}

async function replacePage(page: Page): Promise<Page> {
  const fresh = await page.context().newPage()
  await page.close()
  return fresh
}

/**
 * Terminates the script (`once`) or the scripts that keep the thread of a page or frame busy; does nothing if it
 * responds.
 */
async function free(target: Target, over: AbortSignal, { once = false } = {}): Promise<void> {
  try {
    const cdp = await cdpSessionOf(target)
    const page = 'mainFrame' in target ? target : target.page()
    // Calls of one session run in order: one that was sent before has begun when the page responds.
    const own = page === target ? ownSessionOf(page) : undefined
    const responds = async () => (await answers(cdp)) && (!own || (await answers(own)))
    // Another script may begin when the first one was terminated. The next check takes a termination that comes late, and
    // would hit the next script of the page.
    while (!(await responds())) {
      if (over.aborted) return
      // A script that waits for the answer to a dialog is not hung, and continues after it.
      if (hasOpenDialog(page)) return
      // Scripts of Playwright that are loading now or that load meanwhile can be terminated, too.
      renewScripts(page)
      await cdp.send('Runtime.terminateExecution')
      renewScripts(page)
      if (once) return
    }
  } catch (error) {
    // Closed pages need no freeing.
    if (isGone(error) || sharesThread(error)) return
    throw error
  }
}

/** Returns whether a page responds soon. A rejection is a response too, except for one by a termination that came late. */
async function answers(session: Session): Promise<boolean> {
  const onError = (error: unknown) => (/terminated/i.test(String(error)) ? answers(session) : true)
  const probe = session.send('Runtime.evaluate', { expression: '0' }).then(yes, onError)
  return withDeadline(probe, { ms: answerMs, value: false })
}
