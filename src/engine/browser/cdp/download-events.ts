/** Events of the browser about downloads, by the context of their page: the browser reports them for all contexts. */
import type { CdpMessage } from '../../cdp/router.ts'

type Listener = (event: CdpMessage) => void

/** The downloads of one context. */
export interface ContextDownloads {
  /** Calls the listener with the browser's events, until the returned function is called. */
  onEvent(listener: Listener): () => void
  cancel(guid: string): void
}

export class DownloadEvents {
  readonly #contextOf: (guid: string) => string | undefined
  readonly #listeners = new Map<string, Set<Listener>>()
  /** First events of downloads, until their context is known. */
  readonly #begun = new Map<string, CdpMessage>()
  readonly #contexts = new Map<string, string>()

  /** @param contextOf Returns the context of a download once its page has reported it. */
  constructor(contextOf: (guid: string) => string | undefined) {
    this.#contextOf = contextOf
  }

  onEvent(contextId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(contextId) ?? new Set()
    this.#listeners.set(contextId, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  /** Handles an event; has to receive every event of the connection. */
  handle(event: CdpMessage): void {
    const { method, params } = event
    const guid = params?.['guid'] as string
    if (method === 'Browser.downloadWillBegin') this.#begun.set(guid, event)
    if (method === 'Browser.downloadWillBegin' || method === 'Page.downloadWillBegin') this.#begin(guid)
    if (method !== 'Browser.downloadProgress') return
    this.#emit(guid, event)
    if (params!['state'] === 'inProgress') return
    this.#contexts.delete(guid)
    this.#begun.delete(guid)
  }

  /** Removes a context that has closed. */
  forget(contextId: string): void {
    this.#listeners.delete(contextId)
  }

  /** Reports a download once both the browser and its page have. */
  #begin(guid: string): void {
    const contextId = this.#contextOf(guid)
    const begun = this.#begun.get(guid)
    if (contextId === undefined || !begun) return
    this.#begun.delete(guid)
    this.#contexts.set(guid, contextId)
    this.#emit(guid, begun)
  }

  #emit(guid: string, event: CdpMessage): void {
    for (const listener of this.#listeners.get(this.#contexts.get(guid) ?? '') ?? []) listener(event)
  }
}
