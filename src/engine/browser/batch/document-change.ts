/** Commands while a page is being replaced: they wait for the new document, and what its arrival has interrupted is repeated. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { isPageLeft } from '../approvals/shown-document.ts'
import { pendingDocument } from '../page/internals.ts'
import { isInterrupted } from '../page/playwright-errors.ts'

const intervalMs = 20
/** Maximum time for the first frame of a document, which takes long on a busy machine. */
const frameMs = 2000

/** Navigations that a command has waited for in vain: they may never be answered. */
const hung = new WeakSet<object>()

/**
 * Waits until a navigation that has begun fails, becomes a download or a document that is parsed; at most once for each.
 */
export async function untilCommitted(page: Page, timeoutMs: unknown, signal: AbortSignal): Promise<void> {
  const most = limits.session.downloadStartMs
  const end = performance.now() + (typeof timeoutMs === 'number' ? Math.min(timeoutMs, most) : most)
  let pending = pendingDocument(page)
  if (!pending) return
  while (pending && !hung.has(pending) && performance.now() < end) {
    await pause(intervalMs, undefined, { signal })
    pending = pendingDocument(page)
  }
  if (pending) hung.add(pending)
  // Ignore a page that takes longer, or closes.
  else await shown(page, end - performance.now()).catch(() => {})
}

/** Waits until the document is parsed and has a frame: browsers drop keys and clicks before. Rejects when it closes. */
async function shown(page: Page, ms: number): Promise<void> {
  await page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, ms) })
  const frame = page.evaluate(async () => {
    // Hidden tabs have no frames.
    if (!document.hidden) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  })
  await withDeadline(frame, { ms: frameMs, value: undefined })
}

/** Runs work that changes nothing until no navigation interrupts it. */
export async function untilUninterrupted<T>(page: Page, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // A person is not asked again.
      if (!isInterrupted(error) || isPageLeft(error) || page.isClosed() || signal.aborted) throw error
      await pause(intervalMs, undefined, { signal })
      await untilCommitted(page, undefined, signal)
    }
  }
}
