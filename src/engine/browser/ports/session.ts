/** A live session, as the other parts of the engine use it. */
import type { Page } from 'playwright'
import type { Caller } from '../../../core/access/caller.ts'
import type { Call } from '../../../core/operation/call.ts'
import type { SessionInput } from '../../../core/shapes/session.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import type { FrameTokens } from '../links/frame-tokens.ts'
import type { SessionSketch } from '../links/session-urls.ts'
import type { BatchTarget, Recordable } from './batch-target.ts'
import type { JournalControl } from './journal.ts'

export type EndReason = 'deleted' | 'idle_timeout' | 'lifetime' | 'worker_lost' | 'crashed' | 'engine_closed'

export interface LiveSession extends BatchTarget, Recordable {
  readonly name: string | null
  readonly input: SessionInput
  readonly journal: JournalControl
  readonly viewport: { width: number; height: number }
  /** Whether the engine serves CDP for the session. */
  readonly servesCdp: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly endedAt: Date | null
  readonly endReason: EndReason | null
  /** Resolves when the first page can be used. */
  readonly opened: Promise<void>
  readonly tokens: FrameTokens
  readonly queue: {
    /** Runs `work` after earlier work. @throws BaxError `rate_limited` when the queue is full; the reason of `signal`. */
    run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
  }
  /** Opens a CDP channel to the context. @throws BaxError `unsupported` on a browser that was reached by `cdp_url`. */
  openCdp(): Promise<CdpChannel>
  /** Opens a background tab for the engine's own work; the caller closes it. */
  openBackgroundTab(): Promise<Page>
  /** Runs `work` as activity, which suspends the idle timeout. @throws BaxError for errors of the browser */
  use<T>(work: () => Promise<T>): Promise<T>
  /** Suspends the idle timeout until the returned function is called. */
  hold(): () => void
  countCommands(count: number): void
  /** Builds the part of the record that needs neither the page nor the URLs of the request. */
  sketch(): SessionSketch
  /** Ends the session: aborts running commands, then closes its context. Further calls wait for the first. */
  end(reason: EndReason): Promise<void>
  /** Ends the session in the background. */
  endLater(reason: EndReason): void
}

/** The live sessions of an engine. */
export interface LiveSessions {
  /** Returns a live session. @throws BaxError `session_closed` or `session_not_found`. */
  live(idOrName: string, caller: Caller): LiveSession
  /** Returns the live sessions that the caller sees. */
  seenBy(call: Call): LiveSession[]
}

/** A ready session with the facts that only its creator receives. */
export interface OpenedSession {
  readonly session: LiveSession
  readonly frameToken: string
  readonly warning?: string
}
