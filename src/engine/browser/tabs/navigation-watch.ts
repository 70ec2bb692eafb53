/** Counts the navigations of a page, so that a wait knows whether its navigation has already happened. */
import type { Frame, Page } from 'playwright'
import type { CallLimit } from '../../../core/operation/command.ts'
import { oncePer } from '../../once-per.ts'

/** Returns the watch of a page, started on first use: a tab that has a URL by then has navigated. */
export const watchNavigations = oncePer((page: Page) => {
  // Navigations of the main frame, including those within a document; and their number at the start of the last action.
  const watch = { count: page.url() === 'about:blank' ? 0 : 1, mark: 0 }
  page.on('framenavigated', (frame: Frame) => {
    if (frame === page.mainFrame()) watch.count++
  })
  return watch
})

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
  await arrived.waitForLoadState('load', { timeout: left })
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
