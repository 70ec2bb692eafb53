/** Playwright on one channel of a browser: contexts with their CDP ids, and client hints that match the user agent. */
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { playwright } from './playwright.ts'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { type ContextTransfers, Transfers } from './transfers.ts'
import { disguiseOf } from './user-agents.ts'

/** A context with the id that other channels know it by. */
export interface DrivenContext {
  readonly context: BrowserContext
  readonly contextId: string
  /** How many pages the browser has opened in it, those included that Playwright has not told of yet. */
  readonly pagesOpened: () => number
  readonly transfers: ContextTransfers
}

export class Driver {
  readonly browser: Browser
  readonly #link: Link
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(browser: Browser, link: Link) {
    this.browser = browser
    this.#link = link
  }

  static async connect(channel: CdpChannel, version: string, artifactsDir: string): Promise<Driver> {
    const link = new Link(channel, version)
    const options = { artifactsDir, isLocal: true, timeout: limits.pool.launchMs }
    return new Driver(await playwright().chromium.connectOverCDP(link as never, options), link)
  }

  /** One at a time, so that the id seen on the wire belongs to the context that is being made. */
  newContext(options: BrowserContextOptions): Promise<DrivenContext> {
    const made = this.#turn.then(async () => {
      const context = await this.browser.newContext(options)
      const contextId = this.#link.lastContextId
      const transfers = this.#link.transfers.of(contextId)
      return { context, contextId, transfers, pagesOpened: () => this.#link.pagesOpened(contextId) }
    })
    // The caller receives the error; the next context is created all the same.
    this.#turn = made.catch(() => {})
    return made
  }
}

/** Playwright's transport over a channel. */
class Link {
  /** Id of the newest browser context that this consumer has made. */
  lastContextId = ''
  onmessage: ((message: object) => void) | undefined
  onclose: (() => void) | undefined
  readonly transfers: Transfers
  readonly #channel: CdpChannel
  readonly #version: string
  /** Contexts of this consumer with the number of pages that were opened in them. */
  readonly #contexts = new Map<string, number>()

  /** Targets by the session that Playwright drives them with, and the user agent that it gave them. */
  readonly #targets = new Map<string, string>()
  readonly #agents = new Map<string, { params: CdpMessage['params']; sessionId: string }>()

  constructor(channel: CdpChannel, version: string) {
    this.#channel = channel
    this.transfers = new Transfers((message) => channel.post(message, () => {}))
    this.#version = version
    channel.onEvent((message) => {
      if (this.#isForeign(message)) this.#letGo(message)
      else {
        this.#count(message)
        this.transfers.heard(message)
        this.#pass(message)
      }
    })
    channel.onClose(() => setImmediate(() => this.onclose?.()))
  }

  pagesOpened(contextId: string): number {
    return this.#contexts.get(contextId) ?? 0
  }

  send(message: CdpMessage): void {
    if (message.method === 'Emulation.setUserAgentOverride') this.#disguise(message)
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
      }
      if (message.method === 'Target.attachToTarget') this.#shareAgent(message, answer)
      this.#pass(answer)
    })
  }

  close(): void {
    this.#channel.close()
  }

  /** Every message in a task of its own, as Playwright's own transports do: what awaits an answer runs before the next event. */
  #pass(message: CdpMessage): void {
    setImmediate(() => this.onmessage?.(message))
  }

  /** Playwright takes pages of contexts it has not made for pages of the default context, and would drive them. */
  #isForeign({ method, sessionId, params }: CdpMessage): boolean {
    if (method !== 'Target.attachedToTarget' || sessionId !== undefined) return false
    const { type, browserContextId } = params!['targetInfo'] as { type: string; browserContextId?: string }
    return type !== 'browser' && browserContextId !== undefined && !this.#contexts.has(browserContextId)
  }

  #count({ method, sessionId, params }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') this.#forget(params!['sessionId'] as string)
    if (method !== 'Target.attachedToTarget') return
    const { targetId } = params!['targetInfo'] as { targetId: string }
    this.#targets.set(params!['sessionId'] as string, targetId)
    if (sessionId !== undefined) return
    const { type, browserContextId } = params!['targetInfo'] as { type: string; browserContextId?: string }
    if (type === 'page' && browserContextId)
      this.#contexts.set(browserContextId, this.pagesOpened(browserContextId) + 1)
  }

  #disguise(message: CdpMessage): void {
    disguise(message, this.#version)
    const { sessionId = '', params } = message
    const target = this.#targets.get(sessionId)
    if (target !== undefined) this.#agents.set(target, { params, sessionId })
  }

  #forget(sessionId: string): void {
    const target = this.#targets.get(sessionId)
    this.#targets.delete(sessionId)
    if (target !== undefined && this.#agents.get(target)?.sessionId === sessionId) this.#agents.delete(target)
  }

  /**
   * A second session of a page gets the same user agent: when a navigation changes the page's process, every session
   * restores what it had set, and one that had set nothing would take the platform back.
   */
  #shareAgent({ params }: CdpMessage, { result }: CdpMessage): void {
    const agent = this.#agents.get(params?.['targetId'] as string)
    const sessionId = result?.['sessionId']
    if (!agent || typeof sessionId !== 'string') return
    // The page may go before it hears of it.
    this.#channel.post({ method: 'Emulation.setUserAgentOverride', params: agent.params, sessionId }, () => {})
  }

  #letGo({ params }: CdpMessage): void {
    // A target that has gone meanwhile needs no detaching; the answer is of no interest.
    this.#channel.post({ method: 'Target.detachFromTarget', params: { sessionId: params!['sessionId'] } }, () => {})
  }
}

/** Playwright derives the platform from the user agent but leaves the brands to the browser, which would tell another story. */
function disguise(message: CdpMessage, version: string): void {
  const userAgent = message.params?.['userAgent']
  if (typeof userAgent !== 'string' || userAgent === '') return
  const { hints, platform } = disguiseOf(userAgent, version)
  const { userAgentMetadata: _, ...params } = message.params!
  message.params = { ...params, ...(hints && { userAgentMetadata: hints }), ...(platform && { platform }) }
}
