/** Connection of a connector to a browser: its tabs, its collector, and a channel per consumer. */
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import { Collector, type CollectorOptions } from '../collect/collector.ts'
import type { RelayPolicy } from '../../../core/relay-names.ts'
import type { ChannelKind, Hello } from '../tunnel/messages.ts'
import { Gate } from './gate.ts'
import { TargetTracker } from './targets.ts'
import type { UserBrowser } from './user-browser.ts'

export interface AttachmentOptions extends CollectorOptions {
  readonly policy: RelayPolicy
  /** Target IDs and URL globs; none means every tab. */
  readonly tabs: readonly string[]
  readonly onTargets: () => void
}

export type Attachment = Awaited<ReturnType<typeof attach>>

/** Finds the tabs of a browser and starts to collect their events. @throws BaxError `browser_failed`. */
export async function attach(browser: UserBrowser, options: AttachmentOptions) {
  const { router, own } = browser
  try {
    const channel = await router.openChannel()
    const facts = factsOf(await channel.send('Browser.getVersion'))
    const collector = new Collector(channel, options)
    const targets = new TargetTracker(channel, options.tabs, {
      recent: () => browser.recent(),
      onAttached: (targetId, sessionId) => collector.watch(targetId, sessionId),
      onResponds: (targetId, responsive) => collector.reportResponsive(targetId, responsive),
      onChange: options.onTargets,
    })
    channel.onEvent((message) => {
      targets.handleEvent(message)
      collector.handleEvent(message)
    })
    // The loss of the browser is reported by its connection, not by this poll.
    const polling = setInterval(() => void targets.refresh(), limits.relay.checkTabsMs).unref()
    /** Resumes targets that a disconnected consumer left paused, such as popups. */
    const resumeTargets = () => {
      for (const sessionId of targets.sessions) {
        channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId }, () => {})
      }
    }
    await targets.start()
    return {
      facts,
      targets,
      resumeTargets,
      /** Whether the browser was launched by the connector and ends with it. */
      own,
      /** Runs `listener` when the browser is gone. */
      onLost: (listener: () => void) => router.onClose(listener),
      /** Opens a channel for a consumer, restricted by the policy. */
      open: async (consumer: ChannelKind): Promise<CdpChannel> =>
        new Gate(await router.openChannel(), { consumer, policy: options.policy, targets }),
      /** Releases the browser, which keeps running unless the connector launched it. */
      async release(): Promise<void> {
        clearInterval(polling)
        resumeTargets()
        channel.close()
        await browser.release()
      },
    }
  } catch (cause) {
    throw new BaxError('browser_failed', `the browser cannot be debugged: ${asBaxError(cause).message}`, { cause })
  }
}

function factsOf({ product, protocolVersion, userAgent }: Record<string, unknown>): Hello['browser'] {
  return {
    product: String(product),
    protocol_version: String(protocolVersion),
    user_agent: String(userAgent),
    headless: String(userAgent).includes('Headless'),
  }
}
