import type { BrowserContext, Page } from 'playwright'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'

/** The part of a session that a batch of commands works on. */
export interface BatchTarget {
  readonly sessionId: string
  readonly browserContext: BrowserContext
  /**
   * The active tab (the newest opened one that is still there); opens one when the last was closed.
   * @throws BaxError `page_crashed`, once, when its page has crashed; the tab is reloaded by then.
   */
  page(): Promise<Page>
  /** Whether the page of the active tab has crashed. */
  readonly crashed: boolean
  /** Reloads the active tab if its page has crashed, and returns the failure that reports the crash. */
  recover(): Promise<BaxError | undefined>
  /** Whether the browser answers, as far as it is known. */
  readonly responsive: boolean
  /** All tabs in the order of their opening; the last one is active. */
  readonly pages: readonly Page[]
  readonly events: EventLog
  /** Where the pointer was left, in CSS pixels of the viewport. */
  readonly pointer: { x: number; y: number }
  /** Aborted when the session ends in the middle; the reason is a BaxError (`session_closed`, `worker_lost`, …). */
  readonly ended: AbortSignal
  /** Path of a local file that may be uploaded; refuses those that this engine does not give to pages. */
  upload(path: string): string
  /** Writes bytes where this engine allows it; returns the absolute path. */
  save(path: string, bytes: Uint8Array): Promise<string>
}
