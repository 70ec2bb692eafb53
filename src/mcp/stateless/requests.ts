/** Requests of the revision 2026-07-28: any server or gateway answers each of them, without a session of the protocol. */
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { embedded } from '../../client/transport.ts'
import type { Caller } from '../../core/access/caller.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { McpRequest, OpenMcp } from '../../server/mcp.ts'
import { Connection } from '../connection.ts'
import { asCaller, queryOf } from '../http/request.ts'
import { type McpOptions, readOptions } from '../options.ts'
import { createMcpServer } from '../server.ts'

/** First revision without sessions of the protocol. */
const firstModern = '2026-07-28'

/** Returns whether a request names such a revision; its session ID, if any, is ignored then. */
export const isModern = ({ headers }: Request): boolean => (headers.get('mcp-protocol-version') ?? '') >= firstModern

interface Asked {
  readonly caller: Caller
  readonly original: Request
  readonly options: McpOptions
}

export class StatelessMcp {
  readonly #parts: Parameters<OpenMcp>[0]
  readonly #manifest: Manifest
  readonly #handler: McpHttpHandler
  /** Senders of the requests that are being answered. */
  readonly #asked = new WeakMap<Request, Asked>()

  constructor(parts: Parameters<OpenMcp>[0], manifest: Manifest) {
    this.#parts = parts
    this.#manifest = manifest
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(this.#asked.get(requestInfo!)!), {
      legacy: 'reject',
      maxSubscriptions: limits.mcp.connections,
    })
  }

  /** @throws BaxError `invalid_request` for an option in the URL, `rate_limited` for too many streams of the caller */
  answer(original: Request, message: unknown, { caller, whenClosed, countStream }: McpRequest): Promise<Response> {
    const options = readOptions(queryOf(original), this.#manifest)
    const closed = new AbortController()
    whenClosed(() => closed.abort())
    if (isListening(message)) {
      countStream()
      if (caller.keyId !== null) this.#parts.keys.whenLost(caller.keyId, () => closed.abort(), closed.signal)
    }
    const { url, headers } = original
    const request = new Request(url, { method: 'POST', headers, signal: closed.signal })
    this.#asked.set(request, { caller, original, options })
    return this.#handler.fetch(request, { parsedBody: message })
  }

  close(): Promise<void> {
    return this.#handler.close()
  }

  #serverFor({ caller, original, options }: Asked) {
    const connection = new Connection({
      transport: embedded(asCaller(original, this.#parts.fetch)),
      manifest: this.#manifest,
      options,
      caller,
      graceSecs: 0,
      handles: {},
      once: ({ key, input, ...call }, work) =>
        this.#parts.calls.once(
          { operation: 'mcp', caller, headers: new Headers({ 'idempotency-key': key }), ...call },
          input,
          work,
        ),
      warn: (message) => this.#parts.log('warn', message),
    })
    return createMcpServer(connection, 'modern')
  }
}

const isListening = (message: unknown): boolean =>
  (message as { method?: unknown } | null)?.method === 'subscriptions/listen'
