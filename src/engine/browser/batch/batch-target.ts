/** The part of a session that a batch of commands works on. */
import type { BrowserContext, Page } from 'playwright'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'

export interface BatchTarget {
  readonly sessionId: string
  readonly browserContext: BrowserContext
  /** Returns the page of the newest tab, or opens one. @throws BaxError `page_crashed`, once, after it was reloaded. */
  page(): Promise<Page>
  readonly crashed: boolean
  /** Reloads the active tab if its page has crashed, and returns the failure that reports the crash. */
  recover(): Promise<BaxError | undefined>
  /** Whether the browser is responsive, as far as known. */
  readonly responsive: boolean
  /** All tabs in the order in which they were opened; the last one is active. */
  readonly pages: readonly Page[]
  readonly events: EventLog
  /** Last position of the pointer, in CSS pixels of the viewport. */
  readonly pointer: { x: number; y: number }
  /** Aborted when the session ends; the reason is a BaxError (`session_closed`, `worker_lost`, …). */
  readonly ended: AbortSignal
  /** Returns the path of a local file to upload. @throws BaxError `invalid_data` for a missing or disallowed file. */
  upload(path: string): string
  /** Writes a file where the engine allows it; returns the absolute path. */
  save(path: string, bytes: Uint8Array): Promise<string>
}
