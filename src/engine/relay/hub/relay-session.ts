/** State of one relayed browser: its connection, tabs and events. */
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import { closeCodes } from '../../../core/net/link.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Principal } from '../../../core/stores.ts'
import type { RelayRecord } from '../../../core/shapes/relay.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import { CdpCalls } from '../../cdp/calls.ts'
import { RemoteExecutor } from '../commands/remote-executor.ts'
import { redactValue } from '../../../core/access/redact.ts'
import { countedKinds, EventBuffer } from '../events/buffer.ts'
import { type ChannelKind, type FromConnector, type Hello, protocol } from '../tunnel/messages.ts'
import { RemoteChannel } from '../tunnel/remote-channel.ts'
import type { Tunnel, TunnelChannel } from '../tunnel/tunnel.ts'
import { isSame, newSecret } from './tokens.ts'

type Targets = Extract<FromConnector, { type: 'targets' }>
type Client = RelayRecord['clients'][number]

export class RelaySession {
  readonly id = newId('rly')
  readonly events = new EventBuffer()
  readonly calls: CdpCalls
  readonly principal: Principal
  /** Token of CDP clients, valid as long as the session. */
  readonly clientToken = `ct_${newSecret()}`
  readonly #resumeSecret = newSecret()
  readonly #createdAt = new Date()
  readonly #heartbeatMs: number
  readonly #onEnd: (session: RelaySession) => void
  readonly #clients = new Map<object, Client>()
  #hello: Hello
  #tunnel: Tunnel | null
  #connectedAt = new Date()
  #lastSeenAt = new Date()
  #lostAt: Date | null = null
  #deadline: NodeJS.Timeout | undefined
  #reason: RelayRecord['disconnect_reason'] = null
  #reconnects = 0
  #browserLost = false
  #executor: RemoteExecutor | undefined
  #ended = false
  #targets: Targets['targets'] = []
  #active: string | null = null
  #rttMs: number | null = null
  /** Number of the newest event received, as counted by the connector. */
  #acked = 0
  #lostEvents = { console: 0, network: 0, page: 0, cdp: 0 }

  constructor(
    hello: Hello,
    { principal, tunnel, heartbeatMs }: { principal: Principal; tunnel: Tunnel; heartbeatMs: number },
    onEnd: (session: RelaySession) => void,
  ) {
    this.#hello = hello
    this.principal = principal
    this.#tunnel = tunnel
    this.#heartbeatMs = heartbeatMs
    this.#onEnd = onEnd
    this.calls = new CdpCalls({
      open: async () => this.openCdp('cdp'),
      activeTarget: async () => this.#active ?? undefined,
      onEvent: (method, params, targetId) => {
        const data = hello.redact ? (redactValue(params) as Record<string, unknown>) : params
        this.#add('cdp', method, data, targetId)
      },
    })
    this.#add('relay', 'connected', {})
  }

  get owner(): string | null {
    return this.principal.owner
  }

  get name(): string | null {
    return this.#hello.name
  }

  /** Whether these credentials may resume the session: only those that started it. */
  isResumedBy(secret: string, principal: Principal): boolean {
    const { tokenId, transport } = this.principal
    return isSame(secret, this.#resumeSecret) && principal.tokenId === tokenId && principal.transport === transport
  }

  isClientToken(token: string): boolean {
    return isSame(token, this.clientToken)
  }

  /** Continues over a new tunnel; an older one that is still open is closed as replaced. */
  resume(hello: Hello, tunnel: Tunnel): void {
    const old = this.#tunnel
    this.#tunnel = tunnel
    old?.close(closeCodes.replaced, 'replaced')
    clearTimeout(this.#deadline)
    const outage = this.#lostAt ? Date.now() - this.#lostAt.getTime() : 0
    this.#hello = hello
    this.#lostAt = null
    this.#reason = old ? 'replaced' : 'network'
    this.#connectedAt = new Date()
    this.#reconnects += 1
    this.#browserLost = false
    this.#add('relay', 'resumed', { duration_ms: outage })
    this.welcome()
  }

  /** Handles a message of the connector. */
  receive(message: FromConnector): void {
    this.#lastSeenAt = new Date()
    if (message.type === 'events') this.#addBatch(message)
    else if (message.type === 'targets') {
      this.#targets = message.targets
      this.#active = message.active
    } else if (message.type === 'pong') this.#rttMs = Math.round((performance.now() - message.at) * 100) / 100
    else if (message.type === 'browser') this.#setBrowserState(message)
    else if (message.type === 'bye') this.end(message.reason)
  }

  /** Handles the loss of a tunnel: the session waits for its connector for a limited time. */
  tunnelLost(tunnel: Tunnel): void {
    if (tunnel !== this.#tunnel) return
    this.#tunnel = null
    this.#reason = 'network'
    this.#lostAt = new Date()
    this.#deadline = setTimeout(() => this.#finish(), limits.relay.resumeMs).unref()
    this.#add('relay', 'lost', { cause: 'network' })
  }

  /** Ends the session permanently. */
  end(reason: NonNullable<RelayRecord['disconnect_reason']>): void {
    this.#reason = reason
    const tunnel = this.#tunnel
    this.#tunnel = null
    tunnel?.close(reason === 'token_revoked' ? closeCodes.revoked : closeCodes.deleted, reason)
    this.#finish()
  }

  /** Opens a CDP channel for one consumer. @throws BaxError `relay_disconnected`, `browser_lost`. */
  openCdp(kind: 'cdp' | 'ws'): CdpChannel {
    return new RemoteChannel(this.open(kind))
  }

  /** @throws BaxError `relay_disconnected`, `browser_lost`. */
  open(kind: ChannelKind): TunnelChannel {
    if (!this.#tunnel) {
      throw new BaxError('relay_disconnected', `the connector of ${this.id} is disconnected`, {
        hint: 'it reconnects as soon as it can; see "bax relay list"',
        retryAfterSecs: 5,
      })
    }
    if (this.#browserLost) {
      throw new BaxError('browser_lost', `the browser of ${this.id} is not running`, {
        hint: 'start it again; the connector reattaches automatically',
        retryAfterSecs: 5,
      })
    }
    const channel = this.#tunnel.open({ kind })
    this.#clients.set(channel, { kind, since: new Date().toISOString() })
    channel.onEnd(() => this.#clients.delete(channel))
    return channel
  }

  record(cdpUrl: string | null): RelayRecord {
    const { browser, name, version, platform, policy } = this.#hello
    const { count, bytes, firstSeq, lastSeq, dropped } = this.events
    return {
      id: this.id,
      name,
      status: this.#status,
      created_at: this.#createdAt.toISOString(),
      connected_at: this.#connectedAt.toISOString(),
      last_seen_at: this.#lastSeenAt.toISOString(),
      disconnect_reason: this.#reason,
      resume_deadline: this.#lostAt && new Date(this.#lostAt.getTime() + limits.relay.resumeMs).toISOString(),
      reconnects: this.#reconnects,
      browser,
      connector: { version, platform, transport: this.principal.transport, rtt_ms: this.#rttMs },
      policy,
      active_target_id: this.#active,
      targets: this.#targets.map((target) => ({ ...target, active: target.target_id === this.#active })),
      clients: [{ kind: 'collector', since: this.#connectedAt.toISOString() }, ...this.#clients.values()],
      events: { count, bytes, first_seq: firstSeq, last_seq: lastSeq, dropped },
      cdp_url: cdpUrl,
    }
  }

  get #status(): RelayRecord['status'] {
    if (this.#ended) return 'closed'
    if (!this.#tunnel) return 'reconnecting'
    return this.#browserLost ? 'browser_lost' : 'connected'
  }

  /** Returns the executor next to the browser. @throws BaxError `relay_disconnected`, `browser_lost`. */
  executor(): RemoteExecutor {
    if (!this.#executor) {
      const channel = this.open('commands')
      channel.onEnd(() => (this.#executor = undefined))
      this.#executor = new RemoteExecutor(channel)
    }
    return this.#executor
  }

  /** Measures the round-trip time to the connector. */
  ping(): void {
    this.#tunnel?.send({ type: 'ping', at: performance.now() })
  }

  /** Accepts the connector, unless it has disconnected meanwhile. */
  welcome(): void {
    this.#tunnel?.send({
      type: 'welcome',
      proto: protocol,
      session_id: this.id,
      resume: this.#resumeSecret,
      heartbeat_ms: this.#heartbeatMs,
      acked: this.#acked,
    })
    this.ping()
  }

  /** Adds a batch of events, without those resent after a reconnect that had arrived before. */
  #addBatch({ cseq, batch, dropped }: Extract<FromConnector, { type: 'events' }>): void {
    this.events.add(batch.slice(Math.max(0, this.#acked + 1 - cseq)))
    this.#acked = Math.max(this.#acked, cseq + batch.length - 1)
    const lost = { ...dropped }
    for (const kind of countedKinds) lost[kind] -= this.#lostEvents[kind]
    const count = lost.console + lost.network + lost.page + lost.cdp
    this.#lostEvents = dropped
    if (count > 0) {
      this.events.lost(lost)
      this.#add('relay', 'dropped', { count, ...lost })
    }
    this.#tunnel?.send({ type: 'ack', cseq: this.#acked })
  }

  #setBrowserState({ state, cause }: Extract<FromConnector, { type: 'browser' }>): void {
    this.#browserLost = state === 'lost'
    if (state === 'lost') {
      this.#targets = []
      this.#active = null
    }
    this.#add('relay', state === 'lost' ? 'browser_lost' : 'resumed', cause === undefined ? {} : { cause })
  }

  #add(kind: 'cdp' | 'relay', type: string, data: Record<string, unknown>, targetId?: string): void {
    this.events.add([{ ts: Date.now(), kind, type, data, ...(targetId !== undefined && { target_id: targetId }) }])
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#deadline)
    this.#onEnd(this)
  }
}
