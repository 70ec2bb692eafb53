/** Connection of one client: the engine, the sessions that the client opened, and stored images. */
import { type Answer, type Calls, callsOf, type Input, type OperationName, type Unchecked } from '../client/calls.ts'
import type { Transport } from '../client/transport.ts'
import { waitForProvision } from '../client/provision.ts'
import { type Caller, isAllowed } from '../core/access/caller.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { matchesHost, parseHostPattern } from '../core/net/host-pattern.ts'
import { normaliseUrl } from '../core/net/urls.ts'
import type { HttpOperation } from '../core/operation/operation.ts'
import type { Manifest } from '../operations/manifest.ts'
import { HeldSessions } from './held.ts'
import { takeLease } from '../client/lease.ts'
import type { LocalHost } from './local.ts'
import type { McpOptions } from './options.ts'
import { StoredContent } from './stored.ts'

export interface ConnectionParts {
  readonly transport: Transport
  readonly manifest: Manifest
  readonly options: McpOptions
  /** Terminal command that serves the client; absent on a server, whose clients have no files on its machine. */
  readonly local?: LocalHost
  /** Caller on a server; absent where the engine itself checks the key. */
  readonly caller?: Caller
  /** Time to reconnect to the engine before the sessions end, in seconds. */
  readonly graceSecs: number
  /** Reports failures that no call returns. */
  readonly warn: (message: string) => void
}

export class Connection {
  readonly manifest: Manifest
  readonly options: McpOptions
  readonly local: LocalHost | undefined
  /** Browser sessions of the client. */
  readonly sessions: HeldSessions
  /** Shell sessions of the client. */
  readonly shells: HeldSessions
  /** Sessions of the scripts that are running. */
  readonly scriptSessions = new Set<string>()
  /** Screenshots and documents, which are resources. */
  readonly stored = new StoredContent()
  /** Crawls of the client, by ID. */
  readonly crawls = new Map<string, string>()
  /** The engine. */
  readonly calls: Calls
  readonly #caller: Caller | undefined
  readonly #parts: ConnectionParts
  readonly #closing = new AbortController()
  /** Calls that clean up when they are cancelled. */
  readonly #calls = new Set<Promise<unknown>>()

  constructor(parts: ConnectionParts) {
    const { transport, manifest, options, local, caller } = parts
    this.#parts = parts
    this.manifest = manifest
    this.options = options
    this.local = local
    this.calls = callsOf(transport, manifest.operations)
    this.#caller = caller
    this.sessions = new HeldSessions(
      'session',
      () => this.#createSession(),
      async (session_id) => {
        await this.ask('closeSession', { session_id })
      },
    )
    this.shells = new HeldSessions(
      'shell',
      () => this.#createShell(),
      async (session_id) => {
        await this.ask('deleteShell', { session_id })
      },
    )
  }

  /** Calls an operation. @throws BaxError with the engine's error code */
  ask<Name extends OperationName>(
    name: Name,
    input: Input<Name> | Unchecked,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    return this.calls.ask(name, input, { signal, strict: true })
  }

  /** Returns whether the client may call the operation. */
  mayCall(operation: HttpOperation): boolean {
    return this.#caller === undefined || isAllowed(this.#caller, operation)
  }

  /**
   * Returns the ID of a session of the client, or of an existing one that is named by its ID.
   * @throws BaxError `session_not_found`
   */
  async session(name: string | undefined): Promise<string> {
    const held = this.sessions.find(name)
    if (held) return held
    if (name !== undefined && isId(name)) {
      if (this.options.allowedDomains)
        throw new BaxError('unsupported', `session ${name} was not opened here, so that its domains are not limited`)
      if (this.options.confirm)
        throw new BaxError('unsupported', `session ${name} was not opened here, so that its actions do not wait`)
      return name
    }
    throw new BaxError(
      'session_not_found',
      name === undefined ? 'no page is open' : `there is no session ${JSON.stringify(name)}`,
      {
        hint: 'open a page with browser_open first',
      },
    )
  }

  /** Returns the ID of a session, which is created unless it is an ID. */
  openSession(name: string | undefined): Promise<string> {
    return name !== undefined && isId(name) ? this.session(name) : this.sessions.open(name)
  }

  /** @throws BaxError `url_blocked` for a URL on another host than the allowed ones */
  assertAllowed(url: string): void {
    const patterns = this.options.allowedDomains
    if (!patterns) return
    const { hostname, port, protocol } = new URL(normaliseUrl(url))
    const number = Number(port) || (protocol === 'https:' ? 443 : 80)
    if (patterns.some((text) => matchesHost(parseHostPattern(text)!, hostname, number))) return
    throw new BaxError('url_blocked', `${hostname} is not an allowed domain`, { details: { allowed: patterns } })
  }

  /** Option of sessions, scrapes, crawls and maps that limits their connections to the allowed domains. */
  get domains(): { readonly allowed_domains?: string[] } {
    const { allowedDomains } = this.options
    return allowedDomains ? { allowed_domains: [...allowedDomains] } : {}
  }

  /** Runs a call that cleans up when it is cancelled, for which the end of the connection waits. */
  async cleaningUp<T>(work: Promise<T>): Promise<T> {
    this.#calls.add(work)
    try {
      return await work
    } finally {
      this.#calls.delete(work)
    }
  }

  /** Ends everything that the client opened, after its calls were cancelled. */
  async close(): Promise<void> {
    this.#closing.abort(new BaxError('cancelled', 'the connection has ended'))
    this.stored.clear()
    // The calls themselves have reported their failures.
    await Promise.allSettled(this.#calls)
    await Promise.all([this.sessions.close(), this.shells.close()])
  }

  async #createSession(): Promise<string> {
    const { confirm } = this.options
    const created = await this.ask('createSession', {
      idle_timeout_secs: limits.mcp.sessionIdleSecs,
      timeout_secs: limits.mcp.sessionSecs,
      ...this.domains,
      ...(confirm && { confirm: [...confirm] }),
    })
    const id =
      created.session_id ??
      (await waitForProvision(this.calls, created.provision_id!, this.#closing.signal)).session_id!
    await this.#takeLease('leaseSession', id)
    return id
  }

  async #createShell(): Promise<string> {
    const { session_id: id } = await this.ask('createShell', {
      timeout_secs: limits.mcp.sessionIdleSecs,
    })
    await this.#takeLease('leaseShell', id)
    return id
  }

  /** Makes a session end with this process, even if it is killed. */
  #takeLease(stream: 'leaseSession' | 'leaseShell', session_id: string): Promise<void> {
    const { graceSecs, warn } = this.#parts
    const { signal } = this.#closing
    const open = () => this.calls.follow(stream, { session_id, grace_secs: graceSecs }, { signal, strict: true })
    return takeLease(open, signal, (error) => warn(`session ${session_id} may outlive its client: ${error.message}`))
  }
}

/** IDs of sessions and of connected browsers. */
const isId = (name: string): boolean => /^(?:ses|rly)_/.test(name)
