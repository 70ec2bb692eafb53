import type { BrowserContext } from 'playwright'
import type { CdpChannel } from '../../cdp/router.ts'
import type { ContextTransfers } from '../pool/transfers.ts'

/** What a session is made on: a context of a browser of ours or of somebody else's. */
export interface Ground {
  readonly context: BrowserContext
  /** How many pages the browser has opened in it, told before Playwright tells; not known of a remote browser. */
  readonly pagesOpened?: () => number
  readonly transfers: ContextTransfers
  /** A channel to the browser that sees this context alone; on somebody else's browser there is none. */
  readonly openCdp?: () => Promise<CdpChannel>
  /** Whether its browser answers; not known of a remote browser. */
  readonly answers?: () => boolean
  readonly workerId: string
  readonly headless: boolean
  readonly userAgent: string
  readonly downloads: string
  /** Ends the context. */
  close(): Promise<void>
  /** Gives back what was held for the session, when its context is gone. */
  free(): void
}
