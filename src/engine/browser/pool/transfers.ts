/** Progress of running downloads, read from the CDP connection: Playwright reports only their ends. */
import type { CdpMessage } from '../../cdp/router.ts'

/** The running downloads of one context. */
export interface ContextTransfers {
  /** Calls the listener on progress; `bytes` have been received so far, undefined at the end of the download. */
  onProgress(listener: (guid: string, bytes: number | undefined) => void): void
  /** Cancels a download; the browser removes its partial file. */
  cancel(guid: string): void
}

type Listener = Parameters<ContextTransfers['onProgress']>[0]

/** Routes the download events of a connection to the contexts of the pages. */
export class Transfers {
  readonly #post: (message: CdpMessage) => void
  /** Context IDs by protocol session of their pages and frames, and by download. */
  readonly #contextOf = new Map<string, string>()
  readonly #listeners = new Map<string, Listener>()

  /** `post` sends a message to the browser and ignores the response. */
  constructor(post: (message: CdpMessage) => void) {
    this.#post = post
  }

  of(contextId: string): ContextTransfers {
    return {
      onProgress: (listener) => void this.#listeners.set(contextId, listener),
      cancel: (guid) => this.#post({ method: 'Browser.cancelDownload', params: { guid, browserContextId: contextId } }),
    }
  }

  /** Handles an event; has to receive every event of the connection. */
  handle({ method, sessionId, params }: CdpMessage): void {
    switch (method) {
      case 'Target.attachedToTarget': {
        const { browserContextId } = params!['targetInfo'] as { browserContextId?: string }
        if (browserContextId !== undefined) this.#contextOf.set(params!['sessionId'] as string, browserContextId)
        break
      }
      case 'Target.detachedFromTarget':
        this.#contextOf.delete(params!['sessionId'] as string)
        break
      // Only this event has the page's session; the page may close long before its download ends.
      case 'Page.downloadWillBegin': {
        const contextId = this.#contextOf.get(sessionId ?? '')
        if (contextId !== undefined) this.#contextOf.set(params!['guid'] as string, contextId)
        break
      }
      case 'Browser.downloadProgress':
        this.#progress(params!)
    }
  }

  /** Removes a context that has closed. */
  forget(contextId: string): void {
    this.#listeners.delete(contextId)
    for (const [id, of] of this.#contextOf) if (of === contextId) this.#contextOf.delete(id)
  }

  #progress(params: Record<string, unknown>): void {
    const { guid, receivedBytes, state } = params as { guid: string; receivedBytes: number; state: string }
    const listener = this.#listeners.get(this.#contextOf.get(guid) ?? '')
    if (state !== 'inProgress') this.#contextOf.delete(guid)
    listener?.(guid, state === 'inProgress' ? receivedBytes : undefined)
  }
}
