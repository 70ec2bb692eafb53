/** The context that a session runs in, on a local or a remote browser. */
import type { OpenContext } from '../pool/worker.ts'

/** Remote browsers neither count opened pages nor serve CDP. */
export interface SessionHost
  extends Pick<OpenContext, 'context' | 'transfers' | 'close'>, Partial<Pick<OpenContext, 'pagesOpened' | 'openCdp'>> {
  /** Returns whether the browser is responsive; unknown for remote browsers. */
  readonly isResponsive?: () => boolean
  readonly workerId: string
  readonly headless: boolean
  readonly userAgent: string
  readonly downloads: string
  /** Frees the slot of the session, after its context is closed. */
  free(): void
}
