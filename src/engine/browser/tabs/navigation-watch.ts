/** Counts the navigations of a page, so that a wait can tell whether the one it is meant for has happened already. */
import type { Frame, Page } from 'playwright'

interface Watch {
  /** Navigations of the main frame so far, those inside a document included. */
  count: number
  /** What `count` was when the last action began. */
  mark: number
}

const watches = new WeakMap<Page, Watch>()

/** The watch of a page, begun when it is first seen: a tab that has an address by then has navigated. */
function watchOf(page: Page): Watch {
  let watch = watches.get(page)
  if (!watch) {
    const begun: Watch = { count: page.url() === 'about:blank' ? 0 : 1, mark: 0 }
    page.on('framenavigated', (frame: Frame) => {
      if (frame === page.mainFrame()) begun.count++
    })
    watches.set(page, begun)
    watch = begun
  }
  return watch
}

/** Says that an action begins: only navigations from here on are its own. */
export function markAction(page: Page): void {
  const watch = watchOf(page)
  watch.mark = watch.count
}

/** Begins to watch a page without marking anything. */
export function watchNavigations(page: Page): void {
  watchOf(page)
}

/**
 * Resolves with the address when the page is loaded after a navigation since the last action began; waits for one when
 * there was none. A tab that opens meanwhile is what the action led to. Rejects with Playwright's TimeoutError.
 */
export async function navigated(page: Page, limit: { timeout: number; signal: AbortSignal }): Promise<string> {
  const watch = watchOf(page)
  const started = performance.now()
  const arrived = watch.count === watch.mark ? await nextArrival(page, limit) : page
  const left = Math.max(1, limit.timeout - (performance.now() - started))
  await arrived.waitForLoadState('load', { timeout: left })
  // Used up: the next wait is for the next navigation.
  const reached = watchOf(arrived)
  reached.mark = reached.count
  return arrived.url()
}

/** The page when it navigates, or a tab that opens before it does. */
async function nextArrival(page: Page, { timeout, signal }: { timeout: number; signal: AbortSignal }): Promise<Page> {
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
