/** The engine's relay: what operations ask of it. */
import picomatch from 'picomatch'
import type { CdpRequest, RelayEventQuery, Relays } from '../../../core/engine.ts'
import { BaxError, asBaxError } from '../../../core/errors.ts'
import type { Link } from '../../../core/link.ts'
import type { Call } from '../../../core/operation.ts'
import type { CdpAnswer, RelayEvent, RelayEventPage } from '../../../core/shapes/relay.ts'
import type { SocketCall } from '../../../core/socket.ts'
import type { StreamCall } from '../../../core/stream.ts'
import type { CdpDone } from '../../cdp/calls.ts'
import type { EventBuffer, EventQuery } from '../events/buffer.ts'
import { toHar } from '../events/har.ts'
import type { RelayHub } from './hub.ts'
import { joinClient } from './client.ts'
import type { Principal, RelaySession } from './relay-session.ts'
import type { RelayTokens } from './tokens.ts'

/** Something that CDP calls can be made on. */
export interface OwnCalls {
  readonly id: string
  call(request: CdpRequest, signal: AbortSignal): Promise<CdpDone>
}

export interface RelaysGround {
  readonly hub: RelayHub
  readonly tokens: RelayTokens
  /** Calls on browser sessions of the engine's own; undefined for an id that is none. */
  readonly sessionCalls: (idOrName: string) => OwnCalls | undefined
}

export class EngineRelays implements Relays {
  readonly tokens: Relays['tokens']
  readonly #ground: RelaysGround

  constructor(ground: RelaysGround) {
    this.#ground = ground
    this.tokens = {
      create: (wish) => ground.tokens.create(wish),
      list: () => ground.tokens.list(),
      revoke: async (tokenId) => {
        await ground.tokens.revoke(tokenId)
        ground.hub.revoke(tokenId)
      },
    }
  }

  async list(call: Call) {
    return this.#ground.hub.sessions.map((session) => session.record(cdpUrl(session, call)))
  }

  async get(id: string, call: Call) {
    const session = this.#find(id)
    return session.record(cdpUrl(session, call))
  }

  async stop(id: string): Promise<void> {
    this.#find(id).end('stopped')
  }

  async activate(id: string, targetId: string, call: Call): Promise<void> {
    const method = 'Target.activateTarget'
    const request = { session_id: id, method, params: { targetId }, timeout_ms: 10_000, max_bytes: 1024 }
    const { success, error } = await this.cdp(request, call)
    if (!success) throw new BaxError('target_not_found', `cannot activate ${targetId}: ${error}`)
  }

  async readEvents(id: string, query: Parameters<Relays['readEvents']>[1], call: Call) {
    const { events } = this.#find(id)
    const { limit, order, wait_ms: waitMs } = query
    // An archive is of everything that is kept.
    if (query.format === 'har')
      return toHar(events.read({ ...queryOf(query), limit: events.count, order: 'asc' }).events)
    const wanted: EventQuery = { ...queryOf(query), limit, order }
    return waitFor(events, wanted, AbortSignal.any([call.signal, AbortSignal.timeout(waitMs)]))
  }

  async clearEvents(id: string): Promise<void> {
    this.#find(id).events.clear()
  }

  async followEvents(id: string, query: RelayEventQuery, call: StreamCall): Promise<AsyncIterable<RelayEvent>> {
    const { events } = this.#find(id)
    const since = call.since ?? query.since ?? events.lastSeq
    return events.follow({ ...queryOf(query), since }, call.signal)
  }

  async admit({ token, own }: SocketCall): Promise<(link: Link) => void> {
    const { hub, tokens } = this.#ground
    const principal: Principal =
      own && token === null
        ? { tokenId: null, transport: 'local', onlyResumes: false }
        : { transport: 'ws', ...(await tokens.admit(token ?? '')) }
    return (link) => hub.accept(link, principal)
  }

  async openClient(id: string, token: string | null): Promise<(link: Link) => void> {
    const session = this.#find(id)
    if (token === null || !session.isClientToken(token)) {
      throw new BaxError('unauthorized', 'the token is not that of this relay session', {
        hint: 'connect to its cdp_url, which has the token',
      })
    }
    const channel = session.open('ws')
    return (link) => joinClient(link, channel)
  }

  async cdp(request: CdpRequest, call: Call): Promise<CdpAnswer> {
    const { id, call: run } = this.#callsOf(request.session_id)
    const started = performance.now()
    const answer = { session_id: id, method: request.method }
    const took = () => Math.round(performance.now() - started)
    try {
      const { result, targetId } = await run(request, call.signal)
      return { success: true, ...answer, result, target_id: targetId, duration_ms: took() }
    } catch (thrown) {
      const error = asBaxError(thrown)
      if (error.code !== 'cdp_error') throw error
      const { code, message } = error.details as { code: number; message: string }
      const targetId = request.target_id ?? null
      const told = { error: message, code: 'cdp_error', cdp: { code, message } }
      return { success: false, ...answer, target_id: targetId, duration_ms: took(), ...told }
    }
  }

  #find(id: string): RelaySession {
    return this.#ground.hub.find(id)
  }

  #callsOf(idOrName: string): OwnCalls {
    const own = this.#ground.sessionCalls(idOrName)
    if (own) return own
    const { id, calls } = this.#find(idOrName)
    return { id, call: (request, signal) => calls.call(request, signal) }
  }
}

/** Where Playwright and Puppeteer connect to the browser. */
const cdpUrl = (session: RelaySession, { socketBaseUrl }: Call): string | null =>
  socketBaseUrl &&
  `${socketBaseUrl.replace(/^http/, 'ws')}/relay/sessions/${session.id}/cdp?token=${session.clientToken}`

function queryOf({
  since,
  kind,
  type,
  target_id,
  level,
  url,
  text,
}: RelayEventQuery): Omit<EventQuery, 'limit' | 'order'> {
  return {
    since: since ?? 0,
    ...(kind && { kinds: kind }),
    ...(type && { types: type }),
    ...(target_id !== undefined && { targetId: target_id }),
    ...(level !== undefined && { level }),
    ...(url !== undefined && { url: picomatch(url, { bash: true }) }),
    ...(text !== undefined && { text }),
  }
}

/** A page of events, as soon as there is one that matches; an empty one when `signal` aborts first. */
async function waitFor(events: EventBuffer, query: EventQuery, signal: AbortSignal): Promise<RelayEventPage> {
  for (;;) {
    const page = events.read(query)
    if (page.events.length > 0 || signal.aborted) return page
    await events.next(signal)
  }
}
