/** Connection of a connector to a browser: its tabs, its collector, and a channel per consumer. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import { Collector, type CollectorOptions } from '../collect/collector.ts'
import type { RelayPolicy } from '../../../core/relay-names.ts'
import type { Hello } from '../tunnel/messages.ts'
import { Gate } from './gate.ts'
import { TargetTracker } from './targets.ts'
import type { UserBrowser } from './user-browser.ts'

export interface AttachmentOptions extends CollectorOptions {
  readonly policy: RelayPolicy
  /** Target IDs and URL globs; none means every tab. */
  readonly tabs: readonly string[]
  readonly onTargets: () => void
}

export class Attachment {
  readonly facts: Hello['browser']
  readonly targets: TargetTracker
  readonly #browser: UserBrowser
  readonly #options: AttachmentOptions
  readonly #channel: CdpChannel
  readonly #polling: NodeJS.Timeout

  private constructor(browser: UserBrowser, options: AttachmentOptions, channel: CdpChannel, facts: Hello['browser']) {
    this.facts = facts
    this.#browser = browser
    this.#options = options
    this.#channel = channel
    const collector = new Collector(channel, options)
    this.targets = new TargetTracker(channel, options.tabs, {
      recent: () => browser.recent(),
      onAttached: (targetId, sessionId) => collector.watch(targetId, sessionId),
      onResponds: (targetId, responsive) => collector.reportResponsive(targetId, responsive),
      onChange: options.onTargets,
    })
    channel.onEvent((message) => {
      this.targets.handleEvent(message)
      collector.handleEvent(message)
    })
    // The loss of the browser is reported by its connection, not by this poll.
    this.#polling = setInterval(() => void this.targets.refresh(), limits.relay.checkTabsMs).unref()
  }

  /** @throws BaxError `browser_failed`. */
  static async create(browser: UserBrowser, options: AttachmentOptions): Promise<Attachment> {
    try {
      const channel = await browser.router.openChannel()
      const version = await channel.send('Browser.getVersion')
      const userAgent = String(version['userAgent'])
      const facts = {
        product: String(version['product']),
        protocol_version: String(version['protocolVersion']),
        user_agent: userAgent,
        headless: userAgent.includes('Headless'),
      }
      const attachment = new Attachment(browser, options, channel, facts)
      await attachment.targets.start()
      return attachment
    } catch (cause) {
      throw new BaxError('browser_failed', `the browser cannot be debugged: ${(cause as Error).message}`, { cause })
    }
  }

  /** Whether the browser was launched by the connector and ends with it. */
  get own(): boolean {
    return this.#browser.own
  }

  /** Runs `listener` when the browser is gone. */
  onLost(listener: () => void): void {
    this.#browser.router.onClose(listener)
  }

  /** Opens a channel for a consumer, restricted by the policy. */
  async open(lenient: boolean): Promise<CdpChannel> {
    const channel = await this.#browser.router.openChannel()
    return new Gate(channel, { lenient, policy: this.#options.policy, targets: this.targets })
  }

  /** Resumes targets that a disconnected consumer left paused, such as popups. */
  resumeTargets(): void {
    for (const sessionId of this.targets.sessions) {
      this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId }, () => {})
    }
  }

  /** Releases the browser, which keeps running unless the connector launched it. */
  async release(): Promise<void> {
    clearInterval(this.#polling)
    this.resumeTargets()
    this.#channel.close()
    await this.#browser.release()
  }
}
