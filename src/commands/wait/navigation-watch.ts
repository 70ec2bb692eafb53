/** Navigations of pages: how many there were, which ones an action has caused, and whether they have loaded. */
import type { Frame, Page, Request } from 'playwright'
import { oncePer } from '../../core/once-per.ts'
import type { CallLimit } from '../../core/operation/command.ts'

/** Returns the watch of a page, started on first use: a tab that has a URL by then has navigated. */
export const watchNavigations = oncePer((page: Page) => {
  // Navigations of the main frame, including those within a document; and their number at the start of the last action.
  const count = page.url() === 'about:blank' ? 0 : 1
  const watch = { count, mark: 0, isStaying: false, failure: '' }
  page.on('framenavigated', (frame: Frame) => {
    if (frame === page.mainFrame()) watch.count++
  })
  page.on('request', (request: Request) => {
    if (isForDocument(page, request)) watch.isStaying = false
  })
  page.on('requestfailed', (request: Request) => {
    if (isAborted(page, request)) watch.isStaying = true
    else if (isForDocument(page, request)) watch.failure = `${request.failure()?.errorText} at ${request.url()}`
  })
  return watch
})

/** Returns whether a request is for a document of the main frame. */
export function isForDocument(page: Page, request: Request): boolean {
  if (!request.isNavigationRequest()) return false
  try {
    return request.frame() === page.mainFrame()
  } catch {
    // The first request of a tab that does not exist yet.
    return false
  }
}

const isAborted = (page: Page, request: Request): boolean =>
  isForDocument(page, request) && /ERR_ABORTED/.test(request.failure()?.errorText ?? '')

/** Waits until a page has loaded. Rejects with Playwright's TimeoutError, and if the browser shows an error instead. */
export async function untilLoaded(page: Page, { timeout, signal }: CallLimit): Promise<void> {
  const over = new AbortController()
  const limit = { timeout: Math.max(1, timeout), signal: AbortSignal.any([signal, over.signal]) }
  try {
    await Promise.race([page.waitForLoadState('load', limit), untilStaying(page, limit)])
  } finally {
    over.abort()
  }
  assertShown(page)
}

/** @throws Error as Playwright's when the browser shows an error instead of the page that another one has led to. */
export function assertShown(page: Page): void {
  if (!page.url().startsWith('chrome-error:')) return
  throw new Error(`page.led: ${watchNavigations(page).failure || 'net::ERR_FAILED'}`)
}

/**
 * Waits until a page is complete after it began a navigation that led to no other page: to a download, a response without
 * content, or a program such as that of `mailto:`. Chromium reports no load event for it if it had not loaded by then.
 */
export async function untilStaying(page: Page, limit: CallLimit): Promise<void> {
  const watch = watchNavigations(page)
  for (;;) {
    if (!watch.isStaying)
      await page.waitForEvent('requestfailed', { predicate: (request) => isAborted(page, request), ...limit })
    await page.waitForFunction("document.readyState === 'complete'", undefined, { polling: 50, ...limit })
    if (watch.isStaying) return
  }
}

/** Marks the start of an action: only later navigations belong to it. */
export function markAction(page: Page): void {
  const watch = watchNavigations(page)
  watch.mark = watch.count
}

/**
 * Waits until the page has loaded after a navigation since the last action, and returns its URL. A tab that opens
 * meanwhile counts as the navigation. Rejects with Playwright's TimeoutError.
 */
export async function navigated(page: Page, limit: CallLimit): Promise<string> {
  const watch = watchNavigations(page)
  const started = performance.now()
  const arrived = watch.count === watch.mark ? await nextArrival(page, limit) : page
  const left = Math.max(1, limit.timeout - (performance.now() - started))
  await untilLoaded(arrived, { timeout: left, signal: limit.signal })
  // The next wait is for the next navigation.
  const reached = watchNavigations(arrived)
  reached.mark = reached.count
  return arrived.url()
}

/** Waits for the page to navigate, or for a tab that opens first; returns either. */
async function nextArrival(page: Page, { timeout, signal }: CallLimit): Promise<Page> {
  const over = new AbortController()
  const options = { timeout, signal: AbortSignal.any([signal, over.signal]) }
  const predicate = (frame: Frame) => frame === page.mainFrame()
  try {
    return await Promise.race([
      page.waitForEvent('framenavigated', { predicate, ...options }).then(() => page),
      page.context().waitForEvent('page', options),
    ])
  } finally {
    over.abort()
  }
}
