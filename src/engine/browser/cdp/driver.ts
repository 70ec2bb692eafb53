/** Playwright on one CDP channel: contexts with their CDP IDs, and client hints that match the user agent. */
import type { BrowserContext, BrowserContextOptions, ConnectOverCDPTransport } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { enableEmulation, OverrideTransport } from './override-transport.ts'
import { playwright } from './playwright.ts'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { withoutServerAddress } from './server-address.ts'
import { type ContextDownloads, DownloadEvents } from './download-events.ts'
import { type ContextTransfers, Transfers } from './transfers.ts'
import { clientHintsFor } from './user-agents.ts'

/** A context with the ID that identifies it on other channels. */
export interface DrivenContext {
  readonly context: BrowserContext
  readonly contextId: string
  /** Number of pages that the browser has opened in it, including those that Playwright has not reported yet. */
  readonly pagesOpened: () => number
  readonly transfers: ContextTransfers
  readonly downloads: ContextDownloads
}

/** Connects Playwright; returns a function that opens contexts. */
export async function connectPlaywright(channel: CdpChannel, version: string, artifactsDir: string) {
  const link = new Link(channel, version)
  const settings = { artifactsDir, isLocal: true, timeout: limits.pool.launchMs }
  const transport = new OverrideTransport(link)
  const browser = await playwright().chromium.connectOverCDP(transport, settings)
  const open = async (options: BrowserContextOptions): Promise<DrivenContext> => {
    const context = await browser.newContext(options)
    const contextId = link.lastContextId
    enableEmulation(context, transport.of(contextId))
    const transfers = link.transfers.of(contextId)
    const onEvent: ContextDownloads['onEvent'] = (listener) => link.downloads.onEvent(contextId, listener)
    const downloads = { onEvent, cancel: transfers.cancel }
    return { context, contextId, transfers, downloads, pagesOpened: () => link.pagesOpened(contextId) }
  }
  let turn: Promise<unknown> = Promise.resolve()
  // One at a time, so that the ID seen on the channel belongs to the context being opened.
  return (options: BrowserContextOptions): Promise<DrivenContext> => {
    const opened = turn.then(() => open(options))
    // The caller receives the error; the next context is created all the same.
    turn = opened.catch(() => {})
    return opened
  }
}

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly browserContextId?: string
}

/** Playwright's transport over a CDP channel. */
class Link implements ConnectOverCDPTransport {
  /** ID of the browser context that Playwright created last. */
  lastContextId = ''
  onmessage: ((message: object) => void) | undefined
  onclose: (() => void) | undefined
  readonly transfers: Transfers
  readonly downloads: DownloadEvents
  readonly #channel: CdpChannel
  readonly #version: string
  /** Number of opened pages of each of Playwright's contexts. */
  readonly #contexts = new Map<string, number>()

  /** Targets by protocol session, and the user agents that Playwright has set on them. */
  readonly #targets = new Map<string, string>()
  readonly #userAgents = new Map<string, { params: CdpMessage['params']; sessionId: string }>()

  constructor(channel: CdpChannel, version: string) {
    this.#channel = channel
    this.transfers = new Transfers((message) => channel.post(message, () => {}))
    this.downloads = new DownloadEvents((guid) => this.transfers.contextOf(guid))
    this.#version = version
    channel.onEvent((message) => {
      if (this.#isForeign(message)) {
        // Ignore the response: the target may have closed meanwhile.
        const { sessionId } = message.params!
        return channel.post({ method: 'Target.detachFromTarget', params: { sessionId } }, () => {})
      }
      this.#count(message)
      this.transfers.handle(message)
      this.downloads.handle(message)
      this.#pass(withoutServerAddress(message))
    })
    channel.onClose(() => setImmediate(() => this.onclose?.()))
  }

  pagesOpened(contextId: string): number {
    return this.#contexts.get(contextId) ?? 0
  }

  send(message: CdpMessage): void {
    if (message.method === 'Emulation.setUserAgentOverride') this.#onUserAgent(message)
    this.#channel.post(message, (answer) => {
      const contextId = answer.result?.['browserContextId']
      if (message.method === 'Target.createBrowserContext' && typeof contextId === 'string') {
        this.#contexts.set(contextId, 0)
        this.lastContextId = contextId
      }
      if (message.method === 'Target.disposeBrowserContext') {
        const gone = message.params?.['browserContextId'] as string
        this.#contexts.delete(gone)
        this.transfers.forget(gone)
        this.downloads.forget(gone)
      }
      if (message.method === 'Target.attachToTarget') this.#shareUserAgent(message, answer)
      this.#pass(answer)
    })
  }

  close(): void {
    this.#channel.close()
  }

  /** Delivers every message in its own task, so that code awaiting a response runs before the next event. */
  #pass(message: CdpMessage): void {
    setImmediate(() => this.onmessage?.(message))
  }

  /** Playwright would treat pages of contexts that it has not created as its own. */
  #isForeign({ method, sessionId, params }: CdpMessage): boolean {
    if (method !== 'Target.attachedToTarget' || sessionId !== undefined) return false
    const { type, browserContextId } = params!['targetInfo'] as TargetInfo
    return type !== 'browser' && browserContextId !== undefined && !this.#contexts.has(browserContextId)
  }

  #count({ method, sessionId, params }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') this.#forget(params!['sessionId'] as string)
    if (method !== 'Target.attachedToTarget') return
    const { targetId, type, browserContextId } = params!['targetInfo'] as TargetInfo
    this.#targets.set(params!['sessionId'] as string, targetId)
    if (sessionId === undefined && type === 'page' && browserContextId)
      this.#contexts.set(browserContextId, this.pagesOpened(browserContextId) + 1)
  }

  #onUserAgent(message: CdpMessage): void {
    message.params = withClientHints(message.params!, this.#version)
    const { sessionId = '', params } = message
    const target = this.#targets.get(sessionId)
    if (target !== undefined) this.#userAgents.set(target, { params, sessionId })
  }

  #forget(sessionId: string): void {
    const target = this.#targets.get(sessionId)
    this.#targets.delete(sessionId)
    if (target !== undefined && this.#userAgents.get(target)?.sessionId === sessionId) this.#userAgents.delete(target)
  }

  /**
   * Sets the same user agent on a second session of a page. When a navigation changes the page's process, each session
   * restores its own settings; one without a user agent would reset the platform.
   */
  #shareUserAgent({ params }: CdpMessage, { result }: CdpMessage): void {
    const override = this.#userAgents.get(params?.['targetId'] as string)
    const sessionId = result?.['sessionId']
    if (!override || typeof sessionId !== 'string') return
    // Ignore the response: the page may close first.
    this.#channel.post({ method: 'Emulation.setUserAgentOverride', params: override.params, sessionId }, () => {})
  }
}

/** Returns the parameters of a user agent override with client hints that match: Playwright leaves the browser's brands. */
export function withClientHints(params: Record<string, unknown>, version: string): Record<string, unknown> {
  const { userAgent, userAgentMetadata: _, ...rest } = params
  if (typeof userAgent !== 'string' || userAgent === '') return params
  const { hints, platform } = clientHintsFor(userAgent, version)
  return { ...rest, userAgent, ...(hints && { userAgentMetadata: hints }), ...(platform && { platform }) }
}
