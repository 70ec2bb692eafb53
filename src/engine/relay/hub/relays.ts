/** Implements the relay operations of the engine. */
import type { Call, SocketCall, StreamCall } from '../../../core/operation/call.ts'
import { anonymousCaller, type Caller, isVisibleTo } from '../../../core/access/caller.ts'
import type { Relays } from '../../../core/engine.ts'
import { BaxError, asBaxError } from '../../../core/errors/errors.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import type { Principal, RelayTokenStore } from '../../../core/stores.ts'
import type { CdpRequest, RelayEventQuery, CdpAnswer, RelayEvent, RelayEventPage } from '../../../core/shapes/relay.ts'
import type { CdpDone } from '../../cdp/calls.ts'
import { sendToClient } from '../../cdp/message.ts'
import { linearGlob } from '../../linear-glob.ts'
import type { EventBuffer, EventQuery } from '../events/buffer.ts'
import { isRelayed, type Known, type Names } from '../../../core/access/relayed.ts'
import { toHar } from '../../browser/network/to-har.ts'
import type { TunnelChannel } from '../tunnel/tunnel.ts'
import type { RelayHub } from './hub.ts'
import type { RelaySession } from './relay-session.ts'

export interface CdpTarget {
  readonly id: string
  call(request: CdpRequest, signal: AbortSignal): Promise<CdpDone>
}

export interface RelaysOptions {
  readonly hub: RelayHub
  readonly tokens: RelayTokenStore
  /** The engine's own sessions. */
  readonly sessions: Known &
    Names & {
      /** @throws BaxError `session_closed` or `session_not_found` */
      callsOf(idOrName: string, caller: Caller): CdpTarget
    }
}

export class EngineRelays implements Relays {
  readonly tokens: Relays['tokens']
  readonly #options: RelaysOptions

  constructor(options: RelaysOptions) {
    this.#options = options
    this.tokens = {
      create: (input, { caller }) => options.tokens.create(input, caller),
      list: ({ caller }) => options.tokens.list(caller),
      revoke: (tokenId, { caller }) => options.tokens.revoke(tokenId, caller),
    }
    options.tokens.onRevoked((tokenId) => options.hub.revoke(tokenId))
  }

  async list(call: Call) {
    const seen = this.#options.hub.sessions.filter(isVisibleTo(call.caller))
    return seen.map((session) => session.record(cdpUrl(session, call)))
  }

  async get(id: string, call: Call) {
    const session = this.#find(id, call)
    return session.record(cdpUrl(session, call))
  }

  async stop(id: string, call: Call): Promise<void> {
    this.#find(id, call).end('stopped')
  }

  async activate(id: string, targetId: string, call: Call): Promise<void> {
    const { id: session_id } = this.#find(id, call)
    const method = 'Target.activateTarget'
    const request = { session_id, method, params: { targetId }, timeout_ms: 10_000, max_bytes: 1024 }
    const { success, error } = await this.cdp(request, call)
    if (!success) throw new BaxError('target_not_found', `cannot activate ${targetId}: ${error}`)
  }

  async readEvents(id: string, query: Parameters<Relays['readEvents']>[1], call: Call) {
    const { events } = this.#find(id, call)
    const { limit, order, wait_ms: waitMs } = query
    // An archive contains all buffered events.
    if (query.format === 'har')
      return toHar(events.read({ ...queryOf(query), limit: events.count, order: 'asc' }).events)
    const filter: EventQuery = { ...queryOf(query), limit, order }
    return waitFor(events, filter, AbortSignal.any([call.signal, AbortSignal.timeout(waitMs)]))
  }

  async clearEvents(id: string, call: Call): Promise<void> {
    this.#find(id, call).events.clear()
  }

  async followEvents(id: string, query: RelayEventQuery, call: StreamCall): Promise<AsyncIterable<RelayEvent>> {
    const { events } = this.#find(id, call)
    const since = call.since ?? query.since ?? events.lastSeq
    return events.follow({ ...queryOf(query), since }, call.signal)
  }

  async admit({ token, own, caller, reservation }: SocketCall, sessionId?: string): Promise<(link: Link) => void> {
    const { hub, tokens } = this.#options
    const { keyId } = caller
    const isByKey = token === null && (own || keyId !== null)
    const owner = isByKey ? keyId : await tokens.ownerOf(token ?? '')
    // A token for a single use stays valid for a connector that has to wait.
    if (owner !== undefined && !hub.has(sessionId)) hub.assertRoom(owner)
    const byKey: Principal = { tokenId: keyId, owner: keyId, transport: own ? 'local' : 'ws', onlyResumes: false }
    const principal = isByKey ? byKey : await tokens.admit(token ?? '')
    return (link) => hub.accept(link, principal, reservation)
  }

  ownerOf(token: string): Promise<string | null | undefined> {
    return this.#options.tokens.ownerOf(token)
  }

  async openClient(id: string, token: string | null, call: Call): Promise<(link: Link) => void> {
    const session = this.#authorize(id, token, call)
    const channel = session.open('ws')
    return (link) => joinClient(link, channel)
  }

  async cdp(request: CdpRequest, call: Call): Promise<CdpAnswer> {
    const { id, call: run } = this.#callsOf(request.session_id, call)
    const started = performance.now()
    const answer = { session_id: id, method: request.method }
    const took = () => Math.round(performance.now() - started)
    try {
      const { result, targetId } = await run(request, call.signal)
      return { success: true, ...answer, result, target_id: targetId, duration_ms: took() }
    } catch (thrown) {
      const error = asBaxError(thrown)
      const failed = { success: false, ...answer, target_id: request.target_id ?? null, duration_ms: took() }
      if (error.code === 'page_crashed' || error.code === 'target_closed')
        return { ...failed, error: error.message, code: error.code }
      if (error.code !== 'cdp_error') throw error
      const { code, message } = error.details as { code: number; message: string }
      return { ...failed, error: message, code: 'cdp_error', cdp: { code, message } }
    }
  }

  #find(id: string, { caller }: Call): RelaySession {
    return this.#options.hub.find(id, caller)
  }

  /** Finds a session by its client token, or without a token by the key of the caller. */
  #authorize(idOrName: string, token: string | null, call: Call): RelaySession {
    const { caller } = call
    if (token === null && caller.keyId !== null) return this.#find(idOrName, call)
    const session = this.#options.hub.sessions.find(
      (session) => (session.id === idOrName || session.name === idOrName) && session.isClientToken(token ?? ''),
    )
    if (session) return session
    // Do not reveal to anonymous callers which sessions exist.
    if (caller !== anonymousCaller) this.#find(idOrName, call)
    throw new BaxError('unauthorized', 'the token does not belong to this relay session', {
      hint: 'connect to the cdp_url of the session, which contains the token',
    })
  }

  #callsOf(idOrName: string, call: Call): CdpTarget {
    const { hub, sessions } = this.#options
    if (!isRelayed(idOrName, call.caller, sessions, hub)) return sessions.callsOf(idOrName, call.caller)
    const { id, calls } = this.#find(idOrName, call)
    return { id, call: (request, signal) => calls.call(request, signal) }
  }
}

/** Returns the URL to which Playwright and Puppeteer connect. */
const cdpUrl = (session: RelaySession, { socketBaseUrl }: Call): string | null =>
  socketBaseUrl &&
  `${socketBaseUrl.replace(/^http/, 'ws')}/relay/sessions/${session.id}/cdp?token=${session.clientToken}`

function queryOf(query: RelayEventQuery): Omit<EventQuery, 'limit' | 'order'> {
  const { since = 0, kind: kinds, type: types, target_id: targetId, level, text } = query
  const url = query.url === undefined ? undefined : linearGlob(query.url, 'url', { bash: true })
  return { since, kinds, types, targetId, level, url, text }
}

/** Returns a page of events once one matches, or an empty page when `signal` aborts first. */
async function waitFor(events: EventBuffer, query: EventQuery, signal: AbortSignal): Promise<RelayEventPage> {
  for (;;) {
    const page = events.read(query)
    if (page.events.length > 0 || signal.aborted) return page
    await events.next(signal)
  }
}

/** Forwards messages of a CDP client in both directions; when one side closes, the other is closed. */
function joinClient(link: Link, channel: TunnelChannel): void {
  link.handle({
    onText: (text) => channel.send(text),
    onBytes: () => link.close(closeCodes.protocol, 'CDP messages must be text'),
    onClose: () => channel.close(),
  })
  channel.handle({
    onMessage: (text) => sendToClient(link, text),
    onClose: (code, reason) => link.close(code, reason),
  })
}
