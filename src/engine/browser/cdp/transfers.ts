/** Progress of downloads and navigations, read from the CDP connection: Playwright reports only ends of downloads. */
import type { CdpMessage } from '../../cdp/router.ts'

/** The running downloads of one context. */
export interface ContextTransfers {
  /** Calls the listener on progress; `bytes` have been received so far, undefined at the end of the download. */
  onProgress(listener: (guid: string, bytes: number | undefined) => void): void
  /** Calls the listener when a frame requests a navigation, and when that has become a page, a download or nothing. */
  onNavigation(listener: NavigationListener): void
  /** Cancels a download; the browser removes its partial file. */
  cancel(guid: string): void
}

/**
 * `requested`: it may become a download; `begun`: it has; `stopped`: it has become no page, and is a download if the
 * browser says so next.
 */
type NavigationState = 'requested' | 'begun' | 'stopped' | 'over'

/** `file`: the download that has begun. */
type NavigationListener = (frameId: string, state: NavigationState, file?: DownloadFile) => void

export interface DownloadFile {
  readonly url: string
  readonly suggestedFilename: string
}

/** Binding that is called when a link with the attribute `download` is clicked, which requests no navigation. */
export const downloadBinding = 'baxDownload'

/** Stands for the frame of such a link. */
export const clickedLink = 'link'

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly openerId?: string
  readonly browserContextId?: string
}

interface Listeners {
  progress?: Parameters<ContextTransfers['onProgress']>[0]
  navigation?: NavigationListener
}

/** Schemes whose navigations load something. */
const loads = /^(?:https?|blob|data):/i

/** Routes the download events of a connection to the contexts of the pages. */
export class Transfers {
  readonly #post: (message: CdpMessage) => void
  /** Context IDs by protocol session of their pages and frames, and by download. */
  readonly #contextOf = new Map<string, string>()
  readonly #listeners = new Map<string, Listeners>()
  /** Main frames, by protocol session, of tabs that pages have opened and that show no document yet. */
  readonly #opening = new Map<string, string>()

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
      case 'Target.attachedToTarget':
        this.#attached(params!['sessionId'] as string, params!['targetInfo'] as TargetInfo, sessionId === undefined)
        break
      case 'Target.detachedFromTarget':
        this.#detached(params!['sessionId'] as string)
        break
      // Only this event has the page's session; the page may close long before its download ends.
      case 'Page.downloadWillBegin': {
        const contextId = this.#contextOf.get(sessionId ?? '')
        const { guid, frameId, ...file } = params as unknown as { guid: string; frameId: string } & DownloadFile
        // Every protocol session of the page receives it.
        if (contextId === undefined || this.#contextOf.has(guid)) break
        this.#contextOf.set(guid, contextId)
        this.#navigation(sessionId, frameId, 'begun', file)
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
      case 'Page.frameNavigated': {
        const { id, url } = params!['frame'] as { id: string; url: string }
        // A script may navigate the blank tab that it has opened to a file at once.
        const isBlank = url === 'about:blank' && this.#opening.get(sessionId ?? '') === id
        this.#opening.delete(sessionId ?? '')
        this.#navigation(sessionId, id, isBlank ? 'stopped' : 'over')
        break
      }
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

  /** A tab that a page has opened may become a download, even if no frame has requested that. */
  #attached(session: string, { targetId, type, openerId, browserContextId }: TargetInfo, isTab: boolean): void {
    if (browserContextId !== undefined) this.#contextOf.set(session, browserContextId)
    if (!isTab || type !== 'page' || openerId === undefined) return
    this.#opening.set(session, targetId)
    this.#navigation(session, targetId, 'requested')
  }

  #detached(session: string): void {
    const frameId = this.#opening.get(session)
    if (frameId !== undefined) this.#navigation(session, frameId, 'over')
    this.#opening.delete(session)
    this.#contextOf.delete(session)
  }

  #progress(params: Record<string, unknown>): void {
    const { guid, receivedBytes, state } = params as { guid: string; receivedBytes: number; state: string }
    const listener = this.#listeners.get(this.#contextOf.get(guid) ?? '')
    if (state !== 'inProgress') this.#contextOf.delete(guid)
    listener?.progress?.(guid, state === 'inProgress' ? receivedBytes : undefined)
  }

  #navigation(session: string | undefined, frameId: unknown, state: NavigationState, file?: DownloadFile): void {
    this.#listeners.get(this.#contextOf.get(session ?? '') ?? '')?.navigation?.(frameId as string, state, file)
  }

  #listen(contextId: string, listeners: Listeners): void {
    this.#listeners.set(contextId, { ...this.#listeners.get(contextId), ...listeners })
  }
}
