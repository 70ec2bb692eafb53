/** Where connectors arrive: takes them in, keeps their sessions through outages, and finds them by id or name. */
import { type Caller, sees } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import { limits } from '../../../core/limits/limits.ts'
import { named } from '../../../core/access/owned.ts'
import { readFromConnector, type Hello } from '../tunnel/messages.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { type Control, Tunnel } from '../tunnel/tunnel.ts'
import type { Principal } from './arrival.ts'
import { RelaySession } from './relay-session.ts'

export class RelayHub {
  readonly #sessions = new Map<string, RelaySession>()
  readonly #tunnels = new Set<Tunnel>()
  readonly #pings: NodeJS.Timeout
  readonly #heartbeatMs: number
  readonly #keys: Pick<KeyRing, 'whenLost'>

  constructor(keys: Pick<KeyRing, 'whenLost'>, heartbeatMs: number = limits.relay.heartbeatMs) {
    this.#keys = keys
    this.#heartbeatMs = heartbeatMs
    const pingAll = () => {
      for (const session of this.#sessions.values()) session.ping()
    }
    this.#pings = setInterval(pingAll, heartbeatMs).unref()
  }

  /** Takes in a connector whose right to come was checked. */
  accept(link: Link, principal: Principal): void {
    let session: RelaySession | undefined
    const tunnel = new Tunnel(
      link,
      'engine',
      {
        onControl: (message) => {
          session = this.#hear(message, session, tunnel, principal)
        },
        // Channels are the engine's to open.
        onOpen: (channel) => channel.close(closeCodes.protocol, 'the engine opens the channels'),
        onClose: () => {
          clearTimeout(patience)
          this.#tunnels.delete(tunnel)
          session?.lost(tunnel)
        },
      },
      this.#heartbeatMs,
    )
    this.#tunnels.add(tunnel)
    const patience = setTimeout(() => {
      if (!session) tunnel.close(closeCodes.protocol, 'no hello')
    }, limits.relay.handshakeMs).unref()
  }

  /** Live ones, oldest first. */
  get sessions(): readonly RelaySession[] {
    return [...this.#sessions.values()]
  }

  /** By id, or by name. @throws BaxError `relay_not_found`, also for what is somebody else's. */
  find(idOrName: string, caller: Caller): RelaySession {
    const found = this.#seen(idOrName, caller)
    if (found) return found
    throw new BaxError('relay_not_found', `no relay session ${idOrName}`, {
      hint: 'see `bax relay list`; a browser is brought with `bax relay connect`',
    })
  }

  /** Whether the id or name is that of a relay session that the caller sees. */
  has(idOrName: string, caller: Caller): boolean {
    return this.#seen(idOrName, caller) !== undefined
  }

  #seen(idOrName: string, caller: Caller): RelaySession | undefined {
    const session = this.#sessions.get(idOrName)
    return session && sees(caller, session.owner) ? session : named(this.sessions, idOrName, caller)
  }

  /** Closes the tunnels that were made with a token. */
  revoke(tokenId: string): void {
    for (const session of this.sessions) if (session.principal.tokenId === tokenId) session.end('token_revoked')
  }

  /** Lets every connector go; they come back to the engine that is started next. */
  close(): void {
    clearInterval(this.#pings)
    for (const tunnel of this.#tunnels) tunnel.close(closeCodes.away, 'the engine ends')
    for (const session of this.sessions) session.end('stopped')
  }

  #hear(
    message: Control,
    session: RelaySession | undefined,
    tunnel: Tunnel,
    principal: Principal,
  ): RelaySession | undefined {
    const known = readFromConnector(message)
    if (known === null) return session
    if (known.type === 'hello') {
      if (session) throw new BaxError('invalid_data', 'hello comes once')
      return this.#begin(known, tunnel, principal)
    }
    if (!session) throw new BaxError('invalid_data', 'hello comes first')
    session.hear(known)
    return session
  }

  #begin(hello: Hello, tunnel: Tunnel, principal: Principal): RelaySession | undefined {
    if (Number(hello.proto.split('.', 1)[0]) !== 1) {
      tunnel.close(closeCodes.version, `this engine speaks version 1 of the protocol, not ${hello.proto}`)
      return undefined
    }
    const { resume } = hello
    if (resume !== undefined) {
      const resumed = this.sessions.find((session) => session.isResumedBy(resume, principal))
      if (resumed) {
        resumed.resume(hello, tunnel)
        return resumed
      }
    }
    if (principal.onlyResumes) {
      tunnel.close(closeCodes.revoked, 'the relay token is used up')
      return undefined
    }
    const ended = new AbortController()
    const session = new RelaySession(hello, { principal, tunnel, heartbeatMs: this.#heartbeatMs }, ({ id }) => {
      this.#sessions.delete(id)
      ended.abort()
    })
    this.#sessions.set(session.id, session)
    this.#keys.whenLost(principal.owner, () => session.end('token_revoked'), ended.signal)
    return session
  }
}
