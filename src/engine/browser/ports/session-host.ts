/** The context that a session runs in, and pages outside of it. */
import type { Page } from 'playwright'
import type { CdpChannel } from '../../cdp/router.ts'
import type { CdpClientFacts, OpenContext } from '../pool/worker.ts'

/** A page that no session and no CDP client sees. */
export interface PrivatePage extends Pick<OpenContext, 'close'> {
  readonly page: Page
}

/** The context that a session runs in. Remote browsers neither count opened pages nor serve CDP. */
export interface SessionHost
  extends
    Pick<OpenContext, 'context' | 'transfers' | 'close'>,
    Partial<Pick<OpenContext, 'page' | 'pagesOpened' | 'clientContexts'>> {
  /** Opens a CDP channel limited to the session. */
  readonly openCdp?: (client: Omit<CdpClientFacts, 'claimBrowser'>) => Promise<CdpChannel>
  /** Returns whether the browser is responsive; unknown for remote browsers. */
  readonly isResponsive?: () => boolean
  /** Opens a page in a context of its own; absent in browsers of the caller. */
  readonly openPrivatePage?: () => Promise<PrivatePage>
  /** Returns why a page of the browser was ended just now because of its memory; undefined if none was. */
  readonly memoryExcess?: () => string | undefined
  /** ID of the browser, or `remote`. */
  readonly workerId: string
  readonly headless: boolean
  readonly userAgent: string
  readonly downloads: string
  /** Frees the slot of the session, after its context is closed. */
  free(): void
}
