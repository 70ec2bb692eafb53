/** A connector's hold on a browser: its tabs, its collector, and a channel for every consumer. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import type { RelayEventKind } from '../../../core/shapes/relay.ts'
import { Collector } from '../collect/collector.ts'
import type { SkippedKind } from '../collect/rate.ts'
import type { NewEvent } from '../events/buffer.ts'
import type { RelayPolicy } from '../../../core/relay-words.ts'
import type { Hello } from '../tunnel/messages.ts'
import { Gate } from './gate.ts'
import { TargetBook } from './targets.ts'
import type { UserBrowser } from './user-browser.ts'

export interface AttachmentWishes {
  readonly policy: RelayPolicy
  /** Target ids and globs of addresses; none means every tab. */
  readonly tabs: readonly string[]
  readonly kinds: readonly RelayEventKind[]
  readonly redact: boolean
  /** Text bodies of answers are collected too. */
  readonly bodies: boolean
  /** Above so many events in a second some are left out, of the console first. */
  readonly maxEventsPerSec: number | null
  readonly onSkipped: (kind: SkippedKind) => void
  readonly onEvent: (event: NewEvent) => void
  /** The tabs have changed. */
  readonly onTargets: () => void
}

export class Attachment {
  readonly facts: Hello['browser']
  readonly targets: TargetBook
  readonly #browser: UserBrowser
  readonly #wishes: AttachmentWishes
  readonly #channel: CdpChannel
  readonly #asking: NodeJS.Timeout

  private constructor(browser: UserBrowser, wishes: AttachmentWishes, channel: CdpChannel, facts: Hello['browser']) {
    this.facts = facts
    this.#browser = browser
    this.#wishes = wishes
    this.#channel = channel
    this.targets = new TargetBook(channel, wishes.tabs, () => browser.recent())
    const collector = new Collector(channel, wishes)
    channel.onEvent((message) => {
      this.targets.hear(message)
      collector.hear(message)
    })
    this.targets.onAttached((targetId, sessionId) => collector.watch(targetId, sessionId))
    this.targets.onResponds((targetId, responsive) => collector.responds(targetId, responsive))
    this.targets.onChange(wishes.onTargets)
    // A browser that goes meanwhile answers no tab; its end is told of by itself.
    this.#asking = setInterval(() => void this.targets.refresh(), limits.relay.askTabsMs).unref()
  }

  /** @throws BaxError `browser_failed`. */
  static async make(browser: UserBrowser, wishes: AttachmentWishes): Promise<Attachment> {
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
      const attachment = new Attachment(browser, wishes, channel, facts)
      await attachment.targets.start()
      return attachment
    } catch (cause) {
      throw new BaxError('browser_failed', `the browser cannot be debugged: ${(cause as Error).message}`, { cause })
    }
  }

  /** Whether the browser was started for the connector, and ends with it. */
  get own(): boolean {
    return this.#browser.own
  }

  /** Runs `listener` when the browser is gone. */
  onLost(listener: () => void): void {
    this.#browser.router.onClose(listener)
  }

  /** A consumer's channel, within what the user allows. */
  async open(lenient: boolean): Promise<CdpChannel> {
    const channel = await this.#browser.router.openChannel()
    return new Gate(channel, { lenient, policy: this.#wishes.policy, targets: this.targets })
  }

  /** A consumer is gone: what it has left paused runs, above all popups that it would have driven. */
  letRun(): void {
    for (const sessionId of this.targets.sessions) {
      this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId }, () => {})
    }
  }

  /** Lets go of the browser, which stays as it is unless it was started for the connector. */
  async release(): Promise<void> {
    clearInterval(this.#asking)
    this.letRun()
    this.#channel.close()
    await this.#browser.release()
  }
}
