/** Accepts connectors, keeps their sessions through outages, and finds them by ID or name. */
import { type Caller, canSee, findByName } from '../../../core/access/caller.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { holderOf, Quota } from '../../../core/access/quota.ts'
import { type Names, relayNotFound } from '../../../core/access/relayed.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import { limits } from '../../../core/limits/limits.ts'
import { fromConnector, type Hello, protocol, readControl } from '../tunnel/messages.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { bindUntil } from '../../bound.ts'
import { type Control, Tunnel } from '../tunnel/tunnel.ts'
import { RelaySession } from './relay-session.ts'
import type { Principal } from '../../../core/stores.ts'

/** Credentials of a connector that has connected, and its reserved slot. */
interface Admitted {
  readonly principal: Principal
  readonly reservation: string | undefined
}

type HubConfig = Pick<EngineConfig, 'allowances' | 'bound' | 'log'>

export class RelayHub {
  readonly #sessions = new Map<string, RelaySession>()
  readonly #tunnels = new Set<Tunnel>()
  readonly #pings: NodeJS.Timeout
  readonly #heartbeatMs: number
  readonly #keys: Pick<KeyRing, 'whenLost'>
  readonly #config: HubConfig
  /** Names of the engine's own sessions, which relays must not have. */
  readonly #sessionNames: Names | undefined
  /** Sessions of each key. */
  readonly #quota: Quota

  constructor(
    keys: Pick<KeyRing, 'whenLost'>,
    config: HubConfig,
    { heartbeatMs = limits.relay.heartbeatMs, sessions }: { heartbeatMs?: number; sessions?: Names } = {},
  ) {
    this.#keys = keys
    this.#sessionNames = sessions
    this.#config = config
    this.#quota = new Quota('relays', config.allowances)
    this.#heartbeatMs = heartbeatMs
    this.#pings = setInterval(() => {
      for (const session of this.#sessions.values()) session.ping()
    }, heartbeatMs).unref()
  }

  /** Accepts a connector whose credentials were verified, on the slot that a gateway reserved for it. */
  accept(link: Link, principal: Principal, reservation?: string): void {
    let session: RelaySession | undefined
    const tunnel = new Tunnel(
      link,
      'engine',
      {
        onControl: (message) => {
          session = this.#receive(message, session, tunnel, { principal, reservation })
        },
        // Only the engine opens channels.
        onOpen: (channel) => channel.close(closeCodes.protocol, 'only the engine opens channels'),
        onClose: () => {
          clearTimeout(handshake)
          this.#tunnels.delete(tunnel)
          session?.tunnelLost(tunnel)
        },
      },
      this.#heartbeatMs,
    )
    this.#tunnels.add(tunnel)
    const handshake = setTimeout(() => {
      if (!session) tunnel.close(closeCodes.protocol, 'no hello message received')
    }, limits.relay.handshakeMs).unref()
  }

  /** Live sessions, oldest first. */
  get sessions(): readonly RelaySession[] {
    return [...this.#sessions.values()]
  }

  has(id: string | undefined): boolean {
    return id !== undefined && this.#sessions.has(id)
  }

  /** Checks whether a key may connect another browser. @throws BaxError `too_many_sessions` */
  assertRoom(owner: string | null): void {
    this.#quota.assertRoom(holderOf(owner))
  }

  /** Finds a session by ID or name. @throws BaxError `relay_not_found`, also for sessions of other keys. */
  find(idOrName: string, caller: Caller): RelaySession {
    const found = this.#visible(idOrName, caller)
    if (found) return found
    throw relayNotFound(idOrName)
  }

  /** Whether a live relay session of the owner has the name. */
  hasName(name: string, owner: string | null): boolean {
    return this.sessions.some((session) => session.name === name && session.owner === owner)
  }

  /** Whether the caller has access to a relay session with this ID or name. */
  knows(idOrName: string, caller: Caller): boolean {
    return this.#visible(idOrName, caller) !== undefined
  }

  #visible(idOrName: string, caller: Caller): RelaySession | undefined {
    const session = this.#sessions.get(idOrName)
    return session && canSee(caller, session.owner) ? session : findByName(this.sessions, idOrName, caller)
  }

  /** Ends the sessions that were created with a token. */
  revoke(tokenId: string): void {
    for (const session of this.sessions) if (session.principal.tokenId === tokenId) session.end('token_revoked')
  }

  /** Disconnects every connector; they reconnect to the next engine. */
  close(): void {
    clearInterval(this.#pings)
    this.disconnectAll()
  }

  /** Ends all sessions; their connectors reconnect for new ones. */
  disconnectAll(): void {
    for (const tunnel of this.#tunnels) tunnel.close(closeCodes.away, 'the engine is shutting down')
    for (const session of this.sessions) session.end('stopped')
  }

  #receive(
    message: Control,
    session: RelaySession | undefined,
    tunnel: Tunnel,
    admitted: Admitted,
  ): RelaySession | undefined {
    const known = readControl(fromConnector, message)
    if (known.type === 'hello') {
      if (session) throw new BaxError('invalid_data', 'hello was sent twice')
      return this.#start(known, tunnel, admitted)
    }
    if (!session) throw new BaxError('invalid_data', 'the first message must be hello')
    session.receive(known)
    return session
  }

  #start(hello: Hello, tunnel: Tunnel, { principal, reservation }: Admitted): RelaySession | undefined {
    if (hello.proto !== protocol) {
      tunnel.close(closeCodes.version, `this engine speaks version ${protocol} of the protocol, not ${hello.proto}`)
      return undefined
    }
    const { resume, name } = hello
    const resumed = this.sessions.find((session) => resume !== undefined && session.isResumedBy(resume, principal))
    if (name !== null && name !== resumed?.name && this.#sessionNames?.hasName(name, principal.owner)) {
      tunnel.close(closeCodes.taken, `a live session is already named ${JSON.stringify(name)}`)
      return undefined
    }
    if (resumed) {
      resumed.resume(hello, tunnel)
      return resumed
    }
    if (principal.onlyResumes) {
      tunnel.close(closeCodes.revoked, 'the relay token was already used')
      return undefined
    }
    let release: () => void
    try {
      release = this.#quota.take(holderOf(principal.owner))
    } catch (error) {
      // It may connect again later.
      tunnel.close(closeCodes.away, asBaxError(error).message)
      return undefined
    }
    const ended = new AbortController()
    const session = new RelaySession(hello, { principal, tunnel, heartbeatMs: this.#heartbeatMs }, ({ id }) => {
      this.#sessions.delete(id)
      release()
      ended.abort()
    })
    this.#sessions.set(session.id, session)
    this.#keys.whenLost(principal.owner, () => session.end('token_revoked'), ended.signal)
    const { id, owner } = session
    bindUntil(this.#config, { id, kind: 'relay', owner, name }, { ended: ended.signal, keptMs: 0, reservation }).then(
      () => session.welcome(),
      (error: Error) => {
        const isTaken = asBaxError(error).code === 'conflict'
        tunnel.close(isTaken ? closeCodes.taken : closeCodes.away, error.message)
        session.end('stopped')
      },
    )
    return session
  }
}
