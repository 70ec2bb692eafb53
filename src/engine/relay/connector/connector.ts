/** Brings a browser to an engine, and brings it back when the network, or the browser, was gone for a while. */
import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { version } from '../../../core/version.ts'
import type { BatchTools } from '../../browser/batch/run-batch.ts'
import { LocalExecutor } from '../commands/executor.ts'
import { serveExecutor } from '../commands/remote-executor.ts'
import { type FromConnector, type FromEngine, protocol, readFromEngine } from '../tunnel/messages.ts'
import { serveChannel } from '../tunnel/remote-channel.ts'
import { type Control, Tunnel, type TunnelChannel } from '../tunnel/tunnel.ts'
import { Attachment, type AttachmentWishes } from './attachment.ts'
import { Outbox } from './outbox.ts'
import type { UserBrowser } from './user-browser.ts'

export interface ConnectorFacts {
  readonly name: string | null
  readonly wishes: Omit<AttachmentWishes, 'onEvent' | 'onSkipped' | 'onTargets'>
  /** Finds the browser, or starts it; called again when it is gone. */
  readonly browser: (signal: AbortSignal) => Promise<UserBrowser>
  /** A link to the engine. @throws BaxError; `unauthorized` and its like are final, the rest is tried again. */
  readonly dial: (signal: AbortSignal) => Promise<Link>
  /** What commands get beside the browser. */
  readonly tools: BatchTools
  readonly onStatus: (status: ConnectorStatus) => void
}

export type ConnectorStatus =
  | { readonly state: 'connected'; readonly sessionId: string; readonly resumed: boolean }
  | { readonly state: 'reconnecting'; readonly cause: string; readonly inMs: number }
  | { readonly state: 'browser_lost'; readonly inMs: number }

/** Closings after which a connector does not come back. */
const finalCodes: Record<number, string> = {
  [closeCodes.replaced]: 'another connector has taken over this session',
  [closeCodes.deleted]: 'the engine has let this browser go',
  [closeCodes.revoked]: 'the relay token was revoked, or is used up',
  [closeCodes.version]: 'the engine speaks another version of the relay protocol',
}

export class Connector {
  readonly #facts: ConnectorFacts
  readonly #outbox = new Outbox()
  #attachment: Attachment | undefined
  #tunnel: Tunnel | undefined
  #resume: string | undefined
  #sessionId = ''
  /** Last word of the engine on which tabs it knows of. */
  #told = ''

  constructor(facts: ConnectorFacts) {
    this.#facts = facts
  }

  /**
   * Keeps the browser connected until `signal` aborts; then lets go of it and says goodbye.
   * @throws BaxError when the browser cannot be had at first, or when the engine refuses it for good.
   */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const all = AbortSignal.any([signal, ended.signal])
    try {
      await this.#attach(all)
      const kept = this.#keepBrowser(all)
      await Promise.race([this.#keepTunnel(all), kept])
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      ended.abort()
      this.#say({ type: 'bye', reason: signal.aborted ? 'stopped' : 'browser_closed' })
      this.#tunnel?.close(closeCodes.done, 'the connector ends')
      this.#outbox.close()
      await this.#attachment?.release()
    }
  }

  async #attach(signal: AbortSignal): Promise<void> {
    const browser = await this.#facts.browser(signal)
    try {
      this.#attachment = await Attachment.make(browser, {
        ...this.#facts.wishes,
        onEvent: (event) => this.#outbox.add(event),
        onSkipped: (kind) => this.#outbox.skip(kind),
        onTargets: () => this.#tellTargets(),
      })
    } catch (error) {
      await browser.release()
      throw error
    }
  }

  /** Attaches again, ever more patiently, whenever the browser is gone. Returns when it was ours and has ended. */
  async #keepBrowser(signal: AbortSignal): Promise<void> {
    for (;;) {
      const attachment = this.#attachment!
      await until(signal, (done) => attachment.onLost(done))
      if (signal.aborted) return
      this.#attachment = undefined
      await attachment.release()
      if (attachment.own) return
      this.#say({ type: 'browser', state: 'lost' })
      for (let seconds = 1; !this.#attachment; seconds = Math.min(seconds * 2, 30)) {
        this.#facts.onStatus({ state: 'browser_lost', inMs: seconds * 1000 })
        await sleep(seconds * 1000, undefined, { signal })
        await this.#attach(signal).catch((thrown: unknown) => {
          // A person who said no is not asked again.
          if (asBaxError(thrown).code === 'browser_refused') throw thrown
        })
      }
      this.#say({ type: 'browser', state: 'back' })
      this.#told = ''
      this.#tellTargets()
    }
  }

  async #keepTunnel(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      let cause: string
      let fault = false
      try {
        const link = await this.#facts.dial(signal)
        const { code, reason } = await this.#serve(link, signal, () => (attempt = 0))
        if (signal.aborted) return
        const final = finalCodes[code]
        if (final) throw new BaxError('relay_disconnected', final, { details: { final: true, close_code: code } })
        cause = reason || `closed (${code})`
      } catch (thrown) {
        const error = asBaxError(thrown)
        if (signal.aborted || isFinal(error)) throw error
        cause = error.message
        fault = error.status >= 500 && error.code !== 'engine_unreachable'
      }
      const most = fault ? limits.relay.faultBackoffMs : limits.relay.maxBackoffMs
      // Full jitter: connectors that lost the same server do not come back in one wave.
      const inMs = Math.round(Math.random() * Math.min(most, limits.relay.backoffMs * 2 ** Math.min(attempt, 10)))
      this.#facts.onStatus({ state: 'reconnecting', cause, inMs })
      await sleep(inMs, undefined, { signal })
    }
  }

  /** Serves one tunnel until it ends. */
  #serve(link: Link, signal: AbortSignal, onWelcome: () => void): Promise<{ code: number; reason: string }> {
    return new Promise((resolve) => {
      let welcomed = false
      const tunnel = new Tunnel(
        link,
        'connector',
        {
          onControl: (message) => {
            const known = readFromEngine(message as Control)
            if (known?.type === 'welcome') {
              welcomed = true
              onWelcome()
            }
            if (known) this.#hear(known, tunnel)
          },
          onOpen: (channel, { kind }) => this.#open(channel, String(kind)),
          onClose: (code, reason) => {
            clearTimeout(patience)
            signal.removeEventListener('abort', stop)
            this.#tunnel = undefined
            this.#outbox.disconnect()
            this.#attachment?.letRun()
            resolve({ code, reason })
          },
        },
        limits.relay.heartbeatMs,
      )
      const stop = () => {
        tunnel.send({ type: 'bye', reason: 'stopped' })
        tunnel.close(closeCodes.done, 'the connector ends')
      }
      const patience = setTimeout(() => {
        if (!welcomed) tunnel.close(closeCodes.protocol, 'no welcome')
      }, limits.relay.handshakeMs).unref()
      signal.addEventListener('abort', stop, { once: true })
      tunnel.send(this.#hello() as unknown as Control)
    })
  }

  #hello(): FromConnector {
    const { name, wishes } = this.#facts
    return {
      type: 'hello',
      proto: protocol,
      version,
      platform: platform(),
      name,
      policy: wishes.policy,
      redact: wishes.redact,
      browser: this.#attachment?.facts ?? nowhere,
      ...(this.#resume !== undefined && { resume: this.#resume }),
    }
  }

  #hear(message: FromEngine, tunnel: Tunnel): void {
    if (message.type === 'ping') tunnel.send({ type: 'pong', at: message.at })
    else if (message.type === 'ack') this.#outbox.acknowledge(message.cseq)
    else {
      const resumed = this.#resume === message.resume
      this.#tunnel = tunnel
      this.#resume = message.resume
      this.#sessionId = message.session_id
      tunnel.heartbeatMs = message.heartbeat_ms
      this.#facts.onStatus({ state: 'connected', sessionId: message.session_id, resumed })
      if (!this.#attachment) this.#say({ type: 'browser', state: 'lost' })
      this.#told = ''
      this.#tellTargets()
      this.#outbox.connect((batch) => this.#say(batch), resumed ? message.acked : 0)
    }
  }

  #open(channel: TunnelChannel, kind: string): void {
    const attachment = this.#attachment
    if (!attachment) return channel.close(closeCodes.browserGone, 'the browser is gone')
    channel.onEnd(() => attachment.letRun())
    if (kind === 'commands') return serveExecutor(channel, this.#executor(attachment))
    if (kind !== 'cdp' && kind !== 'ws') return channel.close(closeCodes.protocol, `no channels of kind ${kind}`)
    attachment.open(kind === 'ws').then(
      (browser) => serveChannel(channel, browser, { code: closeCodes.browserGone, reason: 'the browser is gone' }),
      (error: Error) => channel.close(closeCodes.browserGone, error.message.slice(0, 100)),
    )
  }

  #executor(attachment: Attachment): LocalExecutor {
    return new LocalExecutor({
      sessionId: this.#sessionId,
      open: () => attachment.open(true),
      active: () => attachment.targets.active,
      crashed: (targetId) => attachment.targets.crashed(targetId),
      tools: this.#facts.tools,
    })
  }

  #tellTargets(): void {
    const targets = this.#attachment?.targets
    if (!targets || !this.#tunnel) return
    const message = { type: 'targets', targets: targets.list(), active: targets.active } as const
    const text = JSON.stringify(message)
    if (text === this.#told) return
    this.#told = text
    this.#say({ ...message, targets: [...message.targets] })
  }

  #say(message: FromConnector): void {
    this.#tunnel?.send(message as unknown as Control)
  }
}

const nowhere = { product: '', protocol_version: '', user_agent: '', headless: false }

/** What trying again does not mend. */
function isFinal({ code, details }: BaxError): boolean {
  const told = details as { final?: boolean } | undefined
  return (
    told?.final === true ||
    ['unauthorized', 'bad_host', 'bad_origin', 'feature_disabled', 'route_not_found'].includes(code)
  )
}

/** Resolves when `listen` calls back, or when `signal` aborts. */
function until(signal: AbortSignal, listen: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    listen(resolve)
  })
}
