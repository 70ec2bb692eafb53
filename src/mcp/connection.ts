/** Connection of one client: the engine, the sessions that the client opened, and stored images. */
import { randomUUID } from 'node:crypto'
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
import { Handles, isId } from './stateless/handles.ts'
import { HeldSessions, type Sessions } from './held.ts'
import { takeLease } from '../client/lease.ts'
import type { LocalHost } from './local.ts'
import type { McpOptions } from './options.ts'
import type { RunOnce } from './stateless/once.ts'
import { StoredContent } from './stored.ts'
import { traced } from './stateless/trace.ts'

/** Field of the context of batches with the ID of the call that sends them. */
export const callField = 'mcp_call'

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
  /** Set for one call of a client that passes IDs of sessions. `holder` ends them with its process, if there is one. */
  readonly handles?: { readonly holder?: Connection }
  /** Runs calls whose client is asked a question; every server that may get the answer needs the same store. */
  readonly once: RunOnce
  /** Reports failures that no call returns. */
  readonly warn: (message: string) => void
}

export class Connection {
  readonly manifest: Manifest
  readonly options: McpOptions
  readonly local: LocalHost | undefined
  /** Browser sessions of the client. */
  readonly sessions: Sessions
  /** Shell sessions of the client. */
  readonly shells: Sessions
  /** Sessions of the scripts that are running. */
  readonly scriptSessions = new Set<string>()
  /** Screenshots and documents, which are resources. */
  readonly stored: StoredContent
  /** Crawls of the client, by ID. */
  readonly crawls: Map<string, string>
  /** The engine. */
  readonly calls: Calls
  readonly once: RunOnce
  /** ID of the call of this connection, if it is of one. */
  readonly callId = randomUUID()
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
    this.once = parts.once
    this.#caller = caller
    const holder = parts.handles?.holder
    this.stored = holder?.stored ?? new StoredContent()
    this.crawls = holder?.crawls ?? new Map()
    const endSession = async (session_id: string) => void (await this.ask('closeSession', { session_id }))
    const endShell = async (session_id: string) => void (await this.ask('deleteShell', { session_id }))
    if (!parts.handles) {
      this.sessions = new HeldSessions('session', (isHandle) => this.#createSession(isHandle), endSession)
      this.shells = new HeldSessions('shell', (isHandle) => this.#createShell(isHandle), endShell)
      return
    }
    this.sessions = new Handles({
      field: 'session',
      creator: 'browser_open',
      holder: holder?.sessions,
      create: () => this.#createSession(true),
      end: endSession,
    })
    this.shells = new Handles({
      field: 'shell',
      creator: 'shell_exec',
      holder: holder?.shells,
      create: () => this.#createShell(true),
      end: endShell,
    })
  }

  /** Whether resources that are stored can be read later: no other server may have to answer. */
  get keepsContent(): boolean {
    return !this.#parts.handles || this.#parts.handles.holder !== undefined
  }

  /** Returns the connection of one call of a client that passes IDs of sessions, with the trace context of the call. */
  ofCall(meta?: Readonly<Record<string, unknown>>): Connection {
    const { handles = { holder: this }, transport } = this.#parts
    return new Connection({ ...this.#parts, transport: traced(transport, meta), handles })
  }

  /** Ends the sessions that a failed call has created: the client does not know their IDs. */
  async discardCreated(): Promise<void> {
    for (const one of [this.sessions, this.shells]) if (one instanceof Handles) await one.close()
  }

  /** Describes the sessions that a call has created, for a client that passes their IDs. */
  async createdHandles(): Promise<string[]> {
    const kinds = [this.sessions, this.shells].filter((one) => one instanceof Handles)
    return (
      await Promise.all(kinds.map(async (one) => (await one.created()).map((id) => `${one.field}: ${id}`)))
    ).flat()
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
  readonly mayCall = (operation: HttpOperation): boolean =>
    this.#caller === undefined || isAllowed(this.#caller, operation)

  /**
   * Returns the ID of a session of the client, or of an existing one that is named by its ID.
   * @throws BaxError `session_not_found`, `unsupported`
   */
  async session(name: string | undefined): Promise<string> {
    const held = await this.sessions.find(name)
    if (held !== undefined && !this.#parts.handles) return held
    if (name !== undefined && isId.session(name)) {
      await this.#assertLimited(name)
      return name
    }
    if (this.sessions instanceof Handles) throw this.sessions.unknown(name)
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
    return name !== undefined && isId.session(name) ? this.session(name) : this.sessions.open(name)
  }

  /** Returns the ID of a container, which is created unless it is an ID. */
  openShell(name: string | undefined): Promise<string> {
    const isExisting = name !== undefined && isId.shell(name) && !this.#parts.handles
    return isExisting ? Promise.resolve(name) : this.shells.open(name)
  }

  /** Ends a session that `session` finds. @throws BaxError as `session` */
  async endSession(name: string | undefined): Promise<void> {
    const session_id = await this.session(name)
    if (session_id.startsWith('rly_'))
      throw new BaxError('unsupported', `session ${session_id} is the browser of a person, which agents do not close`, {
        hint: 'the command "tab close" of browser_act closes a tab',
      })
    this.sessions.forget(session_id)
    await this.ask('closeSession', { session_id })
  }

  /** @throws BaxError `unsupported` for a session without the limits of the client */
  async #assertLimited(session_id: string): Promise<void> {
    const { allowedDomains, confirm } = this.options
    if (!allowedDomains && !confirm) return
    const session = session_id.startsWith('ses_') ? await this.ask('getSession', { session_id }) : undefined
    const refuse = (what: string) =>
      new BaxError('unsupported', `session ${session_id} was not opened here, so that its ${what}`, {
        hint: 'open the page with browser_open',
      })
    if (allowedDomains && !session?.allowed_domains?.every((one) => allowedDomains.includes(one)))
      throw refuse('domains are not limited')
    if (confirm?.some((kind) => !session?.confirm?.includes(kind))) throw refuse('actions do not wait')
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

  /** Option of batches of commands: by it, their actions that wait for a person are those of the call. */
  get cause(): { readonly context?: Record<string, unknown> } {
    return this.#parts.handles && this.options.confirm ? { context: { [callField]: this.callId } } : {}
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
    if (!this.#parts.handles) this.stored.clear()
    // The calls themselves have reported their failures.
    await Promise.allSettled(this.#calls)
    if (!this.#parts.handles) await Promise.all([this.sessions.close(), this.shells.close()])
  }

  async #createSession(isHandle: boolean): Promise<string> {
    const { confirm, insecure } = this.options
    const created = await this.ask('createSession', {
      idle_timeout_secs: isHandle ? limits.mcp.handleIdleSecs : limits.mcp.sessionIdleSecs,
      timeout_secs: limits.mcp.sessionSecs,
      ...this.domains,
      ...(confirm && { confirm: [...confirm] }),
      ...(insecure && { skip_tls_verification: true }),
    })
    const id =
      created.session_id ??
      (await waitForProvision(this.calls, created.provision_id!, this.#closing.signal)).session_id!
    await this.#takeLease('leaseSession', id, () => void (isHandle && this.sessions.forget(id)))
    return id
  }

  async #createShell(isHandle: boolean): Promise<string> {
    const { session_id: id } = await this.ask('createShell', {
      timeout_secs: isHandle ? limits.mcp.handleIdleSecs : limits.mcp.sessionIdleSecs,
    })
    await this.#takeLease('leaseShell', id, () => void (isHandle && this.shells.forget(id)))
    return id
  }

  /** Makes a session end with this process, even if it is killed. */
  #takeLease(stream: 'leaseSession' | 'leaseShell', session_id: string, onEnded: () => void): Promise<void> {
    const { graceSecs, warn, handles } = this.#parts
    // No process is the client's: the session ends when it is unused.
    if (handles) return Promise.resolve()
    const { signal } = this.#closing
    const open = () => this.calls.follow(stream, { session_id, grace_secs: graceSecs }, { signal, strict: true })
    const onFailure = (error: BaxError) => warn(`session ${session_id} may outlive its client: ${error.message}`)
    return takeLease(open, signal, onFailure, onEnded)
  }
}
