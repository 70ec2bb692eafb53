/** Progress of downloads and navigations, read from the CDP connection: Playwright reports only ends of downloads. */
import type { CdpMessage } from '../../cdp/router.ts'

/** The running downloads of one context. */
export interface ContextTransfers {
  /** Calls the listener on progress; `bytes` have been received so far, undefined at the end of the download. */
  onProgress(listener: (guid: string, bytes: number | undefined) => void): void
  /** Calls the listener when a frame requests a navigation, and when that has become a page, a download or nothing. */
  onNavigation(listener: (frameId: string, state: NavigationState) => void): void
  /** Cancels a download; the browser removes its partial file. */
  cancel(guid: string): void
}

/**
 * `requested`: it may become a download; `begun`: it has; `stopped`: it has become no page, and is a download if the
 * browser says so next.
 */
type NavigationState = 'requested' | 'begun' | 'stopped' | 'over'

/** Binding that is called when a link with the attribute `download` is clicked, which requests no navigation. */
export const downloadBinding = 'baxDownload'

/** Stands for the frame of such a link. */
export const clickedLink = 'link'

interface Listeners {
  progress?: Parameters<ContextTransfers['onProgress']>[0]
  navigation?: Parameters<ContextTransfers['onNavigation']>[0]
}

/** Schemes whose navigations load something. */
const loads = /^(?:https?|blob|data):/i

/** Routes the download events of a connection to the contexts of the pages. */
export class Transfers {
  readonly #post: (message: CdpMessage) => void
  /** Context IDs by protocol session of their pages and frames, and by download. */
  readonly #contextOf = new Map<string, string>()
  readonly #listeners = new Map<string, Listeners>()

  /** `post` sends a message to the browser and ignores the response. */
  constructor(post: (message: CdpMessage) => void) {
    this.#post = post
  }

  of(contextId: string): ContextTransfers {
    return {
      onProgress: (progress) => this.#listen(contextId, { progress }),
      onNavigation: (navigation) => this.#listen(contextId, { navigation }),
      cancel: (guid) => this.#post({ method: 'Browser.cancelDownload', params: { guid, browserContextId: contextId } }),
    }
  }

  /** Returns the context of a download that has begun. */
  contextOf(guid: string): string | undefined {
    return this.#contextOf.get(guid)
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
        const guid = params!['guid'] as string
        // Every protocol session of the page receives it.
        if (contextId === undefined || this.#contextOf.has(guid)) break
        this.#contextOf.set(guid, contextId)
        this.#navigation(sessionId, params!['frameId'], 'begun')
        break
      }
      case 'Page.frameRequestedNavigation': {
        const { frameId, disposition, url } = params as { frameId: string; disposition: string; url: string }
        if (disposition === 'currentTab' && loads.test(url)) this.#navigation(sessionId, frameId, 'requested')
        break
      }
      case 'Runtime.bindingCalled':
        if (params!['name'] === downloadBinding) this.#navigation(sessionId, clickedLink, 'requested')
        break
      case 'Page.frameNavigated':
        this.#navigation(sessionId, (params!['frame'] as { id: string }).id, 'over')
        break
      case 'Page.navigatedWithinDocument':
      case 'Page.frameDetached':
        this.#navigation(sessionId, params!['frameId'], 'over')
        break
      case 'Page.frameStoppedLoading':
        this.#navigation(sessionId, params!['frameId'], 'stopped')
        break
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
    listener?.progress?.(guid, state === 'inProgress' ? receivedBytes : undefined)
  }

  #navigation(sessionId: string | undefined, frameId: unknown, state: NavigationState): void {
    this.#listeners.get(this.#contextOf.get(sessionId ?? '') ?? '')?.navigation?.(frameId as string, state)
  }

  #listen(contextId: string, listeners: Listeners): void {
    this.#listeners.set(contextId, { ...this.#listeners.get(contextId), ...listeners })
  }
}
