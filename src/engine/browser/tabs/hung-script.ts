/** Cuts scripts that keep a page busy beyond their time, so that the page can be used again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession, Frame, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { isGone } from '../batch/playwright-errors.ts'

export interface ScriptLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Time that a page gets to answer before it counts as busy with the script that has to be cut. */
const answerMs = 250

/** The same for a page that is about to be left, where little is lost and nobody waits for anything else of it. */
const leavingMs = 1000

/** A navigation that takes longer has the page that is being left asked whether it answers, again and again. */
const leftWithinMs = 500

/** Time that all of a page gets to be freed. */
const freeingMs = 2000

type Target = Page | Frame
const sessions = new WeakMap<Target, Promise<CDPSession>>()

/** The protocol session of a page, or of a frame that has a process of its own; opened once. */
export function protocol(target: Target): Promise<CDPSession> {
  let session = sessions.get(target)
  if (!session) {
    const page = 'mainFrame' in target ? target : target.page()
    session = page.context().newCDPSession(target)
    session.then(
      (opened) => opened.once('close', () => sessions.delete(target)),
      () => sessions.delete(target),
    )
    sessions.set(target, session)
  }
  return session
}

/** Most frames share the thread, and so the session, of their page. */
const sharesThread = (error: unknown) => /does not have a separate CDP session/.test(String(error))

/**
 * Opens the sessions through which a script of the page or of its frames can be cut: a thread that hangs already takes
 * no new one.
 */
export async function prepareToCut(page: Page): Promise<void> {
  await Promise.all(
    [page, ...page.frames().slice(1)].map((target) =>
      protocol(target).catch((error: unknown) => {
        if (!sharesThread(error) && !isGone(error)) throw error
      }),
    ),
  )
}

const hung = Symbol('hung')

/**
 * Leaves a page by what `go` does with it. A page that hangs, or begins to while it is left, is freed of its script, or
 * given up for a fresh tab in which `go` runs again: a navigation waits for the page that it replaces.
 */
export async function leave<T>(page: Page, go: (page: Page) => Promise<T>): Promise<T> {
  const free = await freeToLeave(page)
  const left = new AbortController()
  const onNavigated = (frame: Frame) => frame === free.mainFrame() && left.abort()
  free.on('framenavigated', onNavigated)
  try {
    // The first attempt of a page that is stuck ends with its tab.
    const first = await Promise.race([go(free), stuck(free, left.signal)])
    if (first !== hung) return first
  } finally {
    left.abort()
    free.off('framenavigated', onNavigated)
  }
  return go(await freshInPlaceOf(free))
}

/** Resolves when a page that is being left can be neither used nor freed; never once it `left`. */
async function stuck(page: Page, left: AbortSignal): Promise<typeof hung> {
  while (!left.aborted && !page.isClosed()) {
    // Aborted once the page has been left.
    await pause(leftWithinMs, undefined, { signal: left }).catch(() => {})
    if (left.aborted || (await canGo(page))) continue
    if (!left.aborted) return hung
  }
  return new Promise<never>(() => {})
}

/** Runs `work`; when its time is over or the command may not go on, cuts the script that keeps the page busy. */
export async function cutAfter<T>(page: Page, limits: ScriptLimits, work: () => Promise<T>): Promise<T> {
  const { timeoutMs, signal } = limits
  const late = new BaxError('timeout', `the evaluation was not done within ${timeoutMs} ms`)
  try {
    return await withDeadline(work(), { ms: timeoutMs, error: () => late, signal })
  } catch (error) {
    if (error !== late && !(signal.aborted && error === signal.reason)) throw error
    const freed = Promise.all([free(page), ...page.frames().slice(1).map(free)])
    await withDeadline(freed, { ms: freeingMs, value: undefined })
    throw signal.aborted ? signal.reason : late
  }
}

/**
 * Ends a script that keeps a page busy which is about to be left: Chromium cannot leave a page that does not answer.
 * Returns the page, or a fresh one in its place: once a navigation has begun, a script that hangs can no longer be cut.
 */
export async function freeToLeave(page: Page): Promise<Page> {
  return page.url() === 'about:blank' || (await canGo(page)) ? page : freshInPlaceOf(page)
}

/** Whether a page answers, or does once its script has been cut. */
async function canGo(page: Page): Promise<boolean> {
  // A refusal is an answer too: the page's policy, or a navigation that is under way.
  const answer = page.evaluate('0').then(
    () => true,
    () => true,
  )
  if (await withDeadline(answer, { ms: leavingMs, value: false })) return true
  const freed = free(page).then(() => true)
  return withDeadline(freed, { ms: freeingMs, value: false })
}

async function freshInPlaceOf(page: Page): Promise<Page> {
  const fresh = await page.context().newPage()
  await page.close()
  return fresh
}

/** Ends the script that keeps the thread of a page or frame busy; leaves one alone that answers. */
async function free(target: Target): Promise<void> {
  try {
    const cdp = await protocol(target)
    if (await answers(cdp)) return
    await cdp.send('Runtime.terminateExecution')
    // A termination that came too late would hit the page's next script: this one takes it.
    await answers(cdp)
  } catch (error) {
    // What is gone needs no freeing; all else is a fault worth seeing.
    if (isGone(error) || sharesThread(error)) return
    throw error
  }
}

async function answers(cdp: CDPSession): Promise<boolean> {
  const probe = cdp.send('Runtime.evaluate', { expression: '0' }).then(() => true)
  return withDeadline(probe, { ms: answerMs, value: false })
}
