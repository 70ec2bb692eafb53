/** Commands while a page is being replaced: they wait for the new document, and what its arrival has interrupted is repeated. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { isPageLeft } from '../approvals/shown-document.ts'
import { pendingDocument } from '../page/internals.ts'
import { untilParsed } from '../page/parsed-document.ts'
import { isInterrupted } from '../page/playwright-errors.ts'
import { untilListening } from '../tabs/until-listening.ts'

const intervalMs = 20

/** Navigations that a command has waited for in vain: they may never be answered. */
const hung = new WeakSet<object>()

/**
 * Waits until a navigation that has begun fails, becomes a download or a document that is parsed; at most once for each.
 * `input` also waits for the scripts of a document that has arrived.
 */
export async function untilCommitted(
  page: Page,
  signal: AbortSignal,
  { timeoutMs, input }: { readonly timeoutMs?: unknown; readonly input?: object | undefined } = {},
): Promise<void> {
  const most = limits.session.downloadStartMs
  const end = performance.now() + (typeof timeoutMs === 'number' ? Math.min(timeoutMs, most) : most)
  let pending = pendingDocument(page)
  const isReplaced = pending !== undefined
  while (pending && !hung.has(pending) && performance.now() < end) {
    await pause(intervalMs, undefined, { signal })
    pending = pendingDocument(page)
  }
  if (pending) hung.add(pending)
  else if (isReplaced) await untilParsed(page.mainFrame(), end - performance.now())
  if (input) await untilListening(page, end - performance.now(), signal)
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
      await untilCommitted(page, signal)
    }
  }
}
