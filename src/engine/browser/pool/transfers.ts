/** What a browser tells of its running downloads on the wire: Playwright tells of their ends alone. */
import type { CdpMessage } from '../../cdp/router.ts'

/** The running downloads of one context. */
export interface ContextTransfers {
  /** `bytes` have come of the download so far; undefined once it is over. Called whenever the browser tells of it. */
  onProgress(listener: (guid: string, bytes: number | undefined) => void): void
  /** Ends a download; the browser removes what it has of it. */
  cancel(guid: string): void
}

type Listener = Parameters<ContextTransfers['onProgress']>[0]

/** Hears the messages of a connection, and tells each context of the downloads of its own pages. */
export class Transfers {
  readonly #post: (message: CdpMessage) => void
  /** Contexts by the sessions of their pages and frames, and by the downloads that these have begun. */
  readonly #contextOf = new Map<string, string>()
  readonly #listeners = new Map<string, Listener>()

  /** `post` sends a message on the browser level; its answer is of no interest. */
  constructor(post: (message: CdpMessage) => void) {
    this.#post = post
  }

  of(contextId: string): ContextTransfers {
    return {
      onProgress: (listener) => void this.#listeners.set(contextId, listener),
      cancel: (guid) => this.#post({ method: 'Browser.cancelDownload', params: { guid, browserContextId: contextId } }),
    }
  }

  /** Has to be given every event of the connection. */
  heard({ method, sessionId, params }: CdpMessage): void {
    switch (method) {
      case 'Target.attachedToTarget': {
        const { browserContextId } = params!['targetInfo'] as { browserContextId?: string }
        if (browserContextId !== undefined) this.#contextOf.set(params!['sessionId'] as string, browserContextId)
        break
      }
      case 'Target.detachedFromTarget':
        this.#contextOf.delete(params!['sessionId'] as string)
        break
      // Only the page's own event says whose download it is; a page may be gone long before its download.
      case 'Page.downloadWillBegin': {
        const contextId = this.#contextOf.get(sessionId ?? '')
        if (contextId !== undefined) this.#contextOf.set(params!['guid'] as string, contextId)
        break
      }
      case 'Browser.downloadProgress':
        this.#progress(params as unknown as Progress)
    }
  }

  /** The context is gone. */
  forget(contextId: string): void {
    this.#listeners.delete(contextId)
    for (const [id, of] of this.#contextOf) if (of === contextId) this.#contextOf.delete(id)
  }

  #progress({ guid, receivedBytes, state }: Progress): void {
    const listener = this.#listeners.get(this.#contextOf.get(guid) ?? '')
    if (state !== 'inProgress') this.#contextOf.delete(guid)
    listener?.(guid, state === 'inProgress' ? receivedBytes : undefined)
  }
}

interface Progress {
  readonly guid: string
  readonly receivedBytes: number
  readonly state: 'inProgress' | 'completed' | 'canceled'
}
