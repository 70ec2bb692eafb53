/** The context that a session runs in, on a local or a remote browser. */
import type { BrowserContext } from 'playwright'
import type { CdpChannel } from '../../cdp/router.ts'
import type { ContextTransfers } from '../pool/transfers.ts'

export interface SessionHost {
  readonly context: BrowserContext
  /** Number of pages that the browser has opened in the context, ahead of Playwright; unknown for remote browsers. */
  readonly pagesOpened?: () => number
  readonly transfers: ContextTransfers
  /** Opens a CDP channel limited to this context; missing on remote browsers. */
  readonly openCdp?: () => Promise<CdpChannel>
  /** Returns whether the browser is responsive; unknown for remote browsers. */
  readonly isResponsive?: () => boolean
  readonly workerId: string
  readonly headless: boolean
  readonly userAgent: string
  readonly downloads: string
  close(): Promise<void>
  /** Frees the slot of the session, after its context is closed. */
  free(): void
}
