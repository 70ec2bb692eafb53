/**
 * Serves clients over Streamable HTTP. Requests of the revision 2026-07-28 are independent of each other; clients of older
 * ones have an MCP session, with a connection of its own, which belongs to the key that opened it.
 */
import { randomUUID } from 'node:crypto'
import { isLegacyRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { embedded } from '../client/transport.ts'
import { type Caller, canSee } from '../core/access/caller.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { type Manifest, makeManifest } from '../operations/manifest.ts'
import type { McpEndpoint, McpRequest, OpenMcp } from '../server/mcp.ts'
import { Connection } from './connection.ts'
import { MessageStore } from './http/event-store.ts'
import { parsed, withoutNulls } from './message.ts'
import { readOptions } from './options.ts'
import { asCaller, queryOf } from './http/request.ts'
import { onceHere } from './stateless/once.ts'
import { isModern, StatelessMcp } from './stateless/requests.ts'
import { createMcpServer } from './server.ts'

interface Client {
  readonly caller: Caller
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Number of open requests, and whether a stream for messages of the server was among them. */
  open: number
  streamed: boolean
  timer: NodeJS.Timeout | undefined
  readonly ended: AbortController
}

export const openEndpoint: OpenMcp = async (parts) => new HttpEndpoint(parts, makeManifest())

class HttpEndpoint implements McpEndpoint {
  readonly #parts: Parameters<OpenMcp>[0]
  readonly #manifest: Manifest
  readonly #clients = new Map<string, Client>()
  readonly #ending = new Set<Promise<void>>()
  readonly #stateless: StatelessMcp

  constructor(parts: Parameters<OpenMcp>[0], manifest: Manifest) {
    this.#parts = parts
    this.#manifest = manifest
    this.#stateless = new StatelessMcp(parts, manifest)
  }

  async handle(request: Request, facts: McpRequest): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (request.method === 'GET') facts.countStream()
    if (request.method === 'POST' && (id === null || isModern(request))) {
      const body = await facts.read(new AbortController().signal)
      const message = withoutNulls(parsed(body))
      const isLegacy = message === undefined || (await isLegacyRequest(request, message))
      if (!isLegacy) return this.#stateless.answer(request, message, facts)
      return this.#begin(request, { ...facts, read: async () => body })
    }
    const client = id === null ? undefined : this.#clients.get(id)
    // Clients start a new session after 404.
    if (!client || !canSee(facts.caller, client.caller.keyId)) return sessionNotFound()
    return this.#pass(client, request, facts)
  }

  async close(): Promise<void> {
    await this.#stateless.close()
    for (const { transport } of this.#clients.values()) await transport.close()
    await Promise.all(this.#ending)
  }

  /** Starts a session for the first message of a client. @throws BaxError `rate_limited`, `no_capacity` */
  async #begin(request: Request, facts: McpRequest): Promise<Response> {
    this.#assertFree(facts.caller)
    const options = readOptions(queryOf(request), this.#manifest)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new MessageStore(),
      maxRequestBodySize: limits.mcp.messageBytes,
      onsessioninitialized: (id) => this.#admit(id, client),
    })
    const client: Client = {
      caller: facts.caller,
      transport,
      open: 0,
      streamed: false,
      timer: undefined,
      ended: new AbortController(),
    }
    const connection = new Connection({
      transport: embedded(asCaller(request, this.#parts.fetch)),
      manifest: this.#manifest,
      options,
      caller: facts.caller,
      graceSecs: limits.lease.graceSecs,
      once: onceHere(),
      warn: (message) => this.#parts.log('warn', message, { mcp_session: transport.sessionId ?? null }),
    })
    const server = createMcpServer(connection, 'legacy')
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    server.onclose = () => this.#end(client, connection)
    await server.connect(transport)
    try {
      return await this.#pass(client, request, facts)
    } finally {
      // The message was no initialization.
      if (transport.sessionId === undefined) await server.close()
    }
  }

  #assertFree({ keyId, admin }: Caller): void {
    const { connections, connectionsOfKey } = limits.mcp
    const clients = [...this.#clients.values()]
    const isLimited = keyId !== null || !admin
    if (isLimited && clients.filter(({ caller }) => caller.keyId === keyId).length >= connectionsOfKey)
      throw new BaxError('rate_limited', `one key may have ${connectionsOfKey} MCP sessions at a time`, {
        hint: 'end one that is no longer needed',
      })
    if (clients.length >= connections) throw new BaxError('no_capacity', `${connections} MCP sessions are open`)
  }

  #admit(id: string, client: Client): void {
    this.#clients.set(id, client)
    const { keyId } = client.caller
    if (keyId !== null) this.#parts.keys.whenLost(keyId, () => void client.transport.close(), client.ended.signal)
  }

  /** Passes a request to the client's transport, and ends the session some time after its last request. */
  async #pass(client: Client, request: Request, { read, whenClosed }: McpRequest): Promise<Response> {
    clearTimeout(client.timer)
    client.open += 1
    if (request.method === 'GET') client.streamed = true
    whenClosed(() => {
      client.open -= 1
      if (client.open > 0) return
      client.timer = setTimeout(
        () => void client.transport.close(),
        client.streamed ? limits.mcp.resumeMs : limits.mcp.idleMs,
      )
      client.timer.unref()
    })
    if (request.method !== 'POST') return client.transport.handleRequest(request)
    const { signal: ended } = client.ended
    const body = await read(ended).catch((error: unknown) => {
      // The session does not wait for the rest of the message.
      if (!ended.aborted) throw error
    })
    if (!body) return sessionNotFound()
    return client.transport.handleRequest(withBody(request, body))
  }

  #end(client: Client, connection: Connection): void {
    clearTimeout(client.timer)
    client.ended.abort()
    const id = client.transport.sessionId
    if (id !== undefined) this.#clients.delete(id)
    const ending = connection
      .close()
      .catch((error: Error) => this.#parts.log('error', error.message, { mcp_session: id ?? null }))
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
  }
}

/** Returns a request with the message that a client sent. */
function withBody({ url, headers }: Request, bytes: Uint8Array): Request {
  const message = parsed(bytes)
  const body = message === undefined ? Buffer.from(bytes) : JSON.stringify(withoutNulls(message))
  return new Request(url, { method: 'POST', headers, body })
}

const sessionNotFound = () =>
  Response.json({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }, { status: 404 })
