/** Connects a browser to an engine, and reconnects after losing the network or the browser. */
import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { asBaxError, BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { version } from '../../../core/version.ts'
import type { BatchTools } from '../../browser/batch/run-batch.ts'
import { LocalExecutor } from '../commands/executor.ts'
import { serveExecutor } from '../commands/remote-executor.ts'
import { type FromConnector, fromEngine, type FromEngine, protocol, readControl } from '../tunnel/messages.ts'
import { serveChannel } from '../tunnel/remote-channel.ts'
import { Tunnel, type TunnelChannel } from '../tunnel/tunnel.ts'
import { attach, type Attachment, type AttachmentOptions } from './attachment.ts'
import { Outbox } from './outbox.ts'
import type { UserBrowser } from './user-browser.ts'

export interface ConnectorOptions {
  readonly name: string | null
  readonly attachment: Omit<AttachmentOptions, 'onEvent' | 'onSkipped' | 'onTargets'>
  /** Finds or launches the browser; called again after it is lost. */
  readonly browser: (signal: AbortSignal) => Promise<UserBrowser>
  /** Opens a link to the engine. @throws BaxError; `unauthorized` and similar codes are final, others are retried. */
  readonly dial: (signal: AbortSignal, sessionId?: string) => Promise<Link>
  /** Tools of commands that run next to the browser. */
  readonly tools: BatchTools
  readonly onStatus: (status: ConnectorStatus) => void
}

export type ConnectorStatus =
  | { readonly state: 'connected'; readonly sessionId: string; readonly resumed: boolean }
  | { readonly state: 'reconnecting'; readonly cause: string; readonly inMs: number }
  | { readonly state: 'browser_lost'; readonly inMs: number }

/** Close codes after which the connector does not reconnect. */
const finalCodes: Record<number, readonly [ErrorCode, string]> = {
  [closeCodes.replaced]: ['relay_disconnected', 'another connector has taken over this session'],
  [closeCodes.deleted]: ['relay_disconnected', 'the engine ended this relay session'],
  [closeCodes.revoked]: ['unauthorized', 'the relay token was revoked or already used'],
  [closeCodes.version]: ['relay_disconnected', 'the engine uses another version of the relay protocol'],
}

export class Connector {
  readonly #facts: ConnectorOptions
  readonly #outbox = new Outbox()
  #attachment: Attachment | undefined
  #tunnel: Tunnel | undefined
  #resume: string | undefined
  #sessionId = ''
  /** Latest list of tabs sent to the engine, as JSON. */
  #sentTargets = ''

  constructor(facts: ConnectorOptions) {
    this.#facts = facts
  }

  /**
   * Keeps the browser connected until `signal` aborts, then releases it and says goodbye.
   * @throws BaxError when the browser is unavailable at first, or when the engine rejects it permanently.
   */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const all = AbortSignal.any([signal, ended.signal])
    try {
      await this.#attach(all)
      const browserLost = this.#keepBrowser(all)
      await Promise.race([this.#keepTunnel(all), browserLost])
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      ended.abort()
      this.#send({ type: 'bye', reason: signal.aborted ? 'stopped' : 'browser_closed' })
      this.#tunnel?.close(closeCodes.done, 'the connector is stopping')
      this.#outbox.close()
      await this.#attachment?.release()
    }
  }

  async #attach(signal: AbortSignal): Promise<void> {
    const browser = await this.#facts.browser(signal)
    try {
      this.#attachment = await attach(browser, {
        ...this.#facts.attachment,
        onEvent: (event) => this.#outbox.add(event),
        onSkipped: (kind) => this.#outbox.skip(kind),
        onTargets: () => this.#sendTargets(),
      })
    } catch (error) {
      await browser.release()
      throw error
    }
  }

  /** Reattaches with increasing delays whenever the browser is lost. Returns when a launched browser has ended. */
  async #keepBrowser(signal: AbortSignal): Promise<void> {
    for (;;) {
      const attachment = this.#attachment!
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
        attachment.onLost(resolve)
      })
      if (signal.aborted) return
      this.#attachment = undefined
      await attachment.release()
      if (attachment.own) return
      this.#send({ type: 'browser', state: 'lost' })
      for (let seconds = 1; !this.#attachment; seconds = Math.min(seconds * 2, 30)) {
        this.#facts.onStatus({ state: 'browser_lost', inMs: seconds * 1000 })
        await sleep(seconds * 1000, undefined, { signal })
        await this.#attach(signal).catch((thrown: unknown) => {
          // Do not ask a user again who has refused.
          if (asBaxError(thrown).code === 'browser_refused') throw thrown
        })
      }
      this.#send({ type: 'browser', state: 'back' })
      this.#sentTargets = ''
      this.#sendTargets()
    }
  }

  async #keepTunnel(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      let cause: string
      let serverError = false
      try {
        const link = await this.#facts.dial(signal, this.#sessionId || undefined)
        const { code, reason } = await this.#serve(link, signal, () => (attempt = 0))
        if (signal.aborted) return
        const final = finalCodes[code]
        if (final) throw new BaxError(...final, { details: { final: true, close_code: code } })
        if (code === closeCodes.taken)
          throw new BaxError('conflict', reason, {
            hint: 'choose another --name, or close that session first',
            details: { final: true, close_code: code },
          })
        cause = reason || `closed (${code})`
      } catch (thrown) {
        const error = asBaxError(thrown)
        if (signal.aborted || isFinal(error)) throw error
        cause = error.message
        serverError = error.status >= 500 && error.code !== 'engine_unreachable'
      }
      const maxMs = serverError ? limits.relay.faultBackoffMs : limits.relay.maxBackoffMs
      // Full jitter: connectors that lost the same server must not reconnect all at once.
      const inMs = Math.round(Math.random() * Math.min(maxMs, limits.relay.backoffMs * 2 ** Math.min(attempt, 10)))
      this.#facts.onStatus({ state: 'reconnecting', cause, inMs })
      await sleep(inMs, undefined, { signal })
    }
  }

  /** Serves one tunnel until it closes. */
  #serve(link: Link, signal: AbortSignal, onWelcome: () => void): Promise<{ code: number; reason: string }> {
    return new Promise((resolve) => {
      let welcomed = false
      const tunnel = new Tunnel(
        link,
        'connector',
        {
          onControl: (message) => {
            const known = readControl(fromEngine, message)
            if (known.type === 'welcome') {
              welcomed = true
              onWelcome()
            }
            this.#receive(known, tunnel)
          },
          onOpen: (channel, { kind }) => this.#open(channel, String(kind)),
          onClose: (code, reason) => {
            clearTimeout(handshake)
            signal.removeEventListener('abort', stop)
            this.#tunnel = undefined
            this.#outbox.disconnect()
            this.#attachment?.resumeTargets()
            resolve({ code, reason })
          },
        },
        limits.relay.heartbeatMs,
      )
      const stop = () => {
        tunnel.send({ type: 'bye', reason: 'stopped' })
        tunnel.close(closeCodes.done, 'the connector is stopping')
      }
      const handshake = setTimeout(() => {
        if (!welcomed) tunnel.close(closeCodes.protocol, 'no welcome message received')
      }, limits.relay.handshakeMs).unref()
      signal.addEventListener('abort', stop, { once: true })
      tunnel.send(this.#hello())
    })
  }

  #hello(): FromConnector {
    const { name, attachment } = this.#facts
    return {
      type: 'hello',
      proto: protocol,
      version,
      platform: platform(),
      name,
      policy: attachment.policy,
      redact: attachment.redact,
      browser: this.#attachment?.facts ?? unknownBrowser,
      ...(this.#resume !== undefined && { resume: this.#resume }),
    }
  }

  #receive(message: FromEngine, tunnel: Tunnel): void {
    if (message.type === 'ping') tunnel.send({ type: 'pong', at: message.at })
    else if (message.type === 'ack') this.#outbox.acknowledge(message.cseq)
    else {
      const resumed = this.#resume === message.resume
      this.#tunnel = tunnel
      this.#resume = message.resume
      this.#sessionId = message.session_id
      tunnel.heartbeatMs = message.heartbeat_ms
      this.#facts.onStatus({ state: 'connected', sessionId: message.session_id, resumed })
      if (!this.#attachment) this.#send({ type: 'browser', state: 'lost' })
      this.#sentTargets = ''
      this.#sendTargets()
      this.#outbox.connect((batch) => this.#send(batch), resumed ? message.acked : 0)
    }
  }

  #open(channel: TunnelChannel, kind: string): void {
    const attachment = this.#attachment
    if (!attachment) return channel.close(closeCodes.browserGone, 'the browser is gone')
    channel.onEnd(() => attachment.resumeTargets())
    if (kind === 'commands') {
      const executor = new LocalExecutor({
        sessionId: this.#sessionId,
        open: () => attachment.open(kind),
        policy: this.#facts.attachment.policy,
        active: () => attachment.targets.active,
        tab: (targetId) => attachment.targets.find(targetId),
        refresh: () => attachment.targets.refresh(),
        tools: this.#facts.tools,
      })
      return serveExecutor(channel, executor)
    }
    if (kind !== 'cdp' && kind !== 'ws') return channel.close(closeCodes.protocol, `no channels of kind ${kind}`)
    attachment.open(kind).then(
      (browser) => serveChannel(channel, browser, { code: closeCodes.browserGone, reason: 'the browser is gone' }),
      (error: unknown) => channel.close(closeCodes.browserGone, asBaxError(error).message.slice(0, 100)),
    )
  }

  #sendTargets(): void {
    const targets = this.#attachment?.targets
    if (!targets || !this.#tunnel) return
    const message: FromConnector = { type: 'targets', targets: targets.list(), active: targets.active }
    const text = JSON.stringify(message)
    if (text === this.#sentTargets) return
    this.#sentTargets = text
    this.#send(message)
  }

  #send(message: FromConnector): void {
    this.#tunnel?.send(message)
  }
}

const unknownBrowser = { product: '', protocol_version: '', user_agent: '', headless: false }

/** Whether retrying is pointless. */
function isFinal({ code, details }: BaxError): boolean {
  const final = (details as { final?: boolean } | undefined)?.final === true
  return final || ['unauthorized', 'bad_host', 'bad_origin', 'feature_disabled', 'route_not_found'].includes(code)
}
