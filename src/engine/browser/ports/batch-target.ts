/** The part of a session that a batch of commands works on. */
import type { BrowserContext, Page } from 'playwright'
import type { Caller } from '../../../core/access/caller.ts'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import type { Clipboard } from '../clipboard/clipboard.ts'
import type { FileStore } from '../files/file-store.ts'
import type { ApprovalControl } from './approvals.ts'
import type { DialogControl } from './dialogs.ts'
import type { DownloadMarks } from './downloads.ts'
import type { JournalControl } from './journal.ts'
import type { ReplayLog } from './replay.ts'
import type { PrivatePage } from './session-host.ts'
import type { UsableCredential } from '../../../core/stores.ts'
import type { CommandCall } from '../../../core/shapes/commands.ts'
import type { FilesToUpload } from '../../../core/operation/files-to-upload.ts'
import type { FileSource } from '../../../core/shapes/session-files.ts'

export interface BatchTarget {
  readonly sessionId: string
  readonly browserContext: BrowserContext
  /** Size of the viewport in all tabs, which emulation changes; null for a browser whose windows are the user's. */
  readonly viewport: { width: number; height: number } | null
  /** Returns the page of the active tab, or opens one. @throws BaxError `page_crashed`, once, after it was reloaded. */
  page(): Promise<Page>
  readonly crashed: boolean
  /** Reloads the active tab if its page has crashed, and returns the failure that reports the crash. */
  recover(): Promise<BaxError | undefined>
  /** Whether the browser is responsive, as far as known. */
  readonly responsive: boolean
  /** All tabs in the order in which they were opened. */
  readonly pages: readonly Page[]
  /** Page of the active tab, as far as known; undefined without tabs. */
  readonly activePage: Page | undefined
  /** Makes a tab active: the next commands use it. */
  activate(page: Page): Promise<void>
  readonly events: EventLog
  /**
   * Loads a credential of the key that the session belongs to; undefined in a browser that belongs to its user.
   * @throws BaxError `permission_denied` for a caller with another key, also an admin
   */
  credential?(name: string, caller: Caller | undefined): Promise<UsableCredential>
  readonly dialogs: DialogControl
  /** Set when actions may wait for a person. */
  readonly approvals?: ApprovalControl | undefined
  /** @throws BaxError `method_denied` for a command that the user of the browser does not allow. */
  checkAllowed?(call: CommandCall): void
  /** @throws BaxError `method_denied` where the user of the browser allows no code of the caller. */
  checkCode?(): void
  /** @throws BaxError `unsupported` where pages use another clipboard. */
  clipboard(): Clipboard
  /** Last position of the pointer, in CSS pixels of the viewport. */
  readonly pointer: { x: number; y: number }
  /** Aborted when the session ends; the reason is a BaxError (`session_closed`, `worker_lost`, …). */
  readonly ended: AbortSignal
  /** Normalizes a URL to open. @throws BaxError `invalid_request`, `url_blocked` */
  checkUrl(url: string): string
  /** Finds files to upload. @throws BaxError `invalid_data` for a missing or disallowed file. */
  upload(names: readonly string[]): FilesToUpload
  /** Writes a file where the engine allows it; returns the absolute path, or on a server the name of the file. */
  save(path: string, bytes: Uint8Array, source: FileSource): Promise<string>
  /** The session for its recorders; undefined in a browser that belongs to its user. */
  readonly recordable?: Recordable
  /** Set in a session that is recorded for its replay. */
  readonly replay?: ReplayLog | undefined
  /** Downloads of the tabs; undefined if the browser does not report them. */
  readonly downloads?: DownloadMarks
  /** Keeps the commands for a script; undefined in a browser that belongs to its user. */
  readonly journal?: JournalControl
}

/** The session that is recorded. */
export interface Recordable extends Pick<BatchTarget, 'pages' | 'ended' | 'activePage' | 'events'> {
  readonly browserContext: BrowserContext
  readonly files: FileStore
  /** ID of the key that the session belongs to. */
  readonly owner: string | null
  openPrivatePage(): Promise<PrivatePage>
}
