/** The route `/mcp`: admits callers, and loads the MCP server at the first request. */
import type { Caller } from '../core/access/caller.ts'
import type { KeyRing } from '../core/access/keys.ts'
import type { Log } from '../core/config/config.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import type { IdempotencyStore } from '../core/stores.ts'
import type { OpenStreams } from './access/load.ts'
import type { AppContext } from './request/env.ts'
import { readBody } from './request/json-body.ts'
import { incomingOf, outgoingOf } from './request/requests.ts'

export interface McpRequest {
  readonly caller: Caller
  /** Reads the message. @throws BaxError as `readBody` does, the reason of the signal */
  read(signal: AbortSignal): Promise<Uint8Array>
  /** Calls a listener when the connection of the request has closed. */
  whenClosed(listener: () => void): void
  /** Counts the response as a stream of the caller until it has closed. @throws BaxError `rate_limited` */
  countStream(): void
}

/** Serves MCP over HTTP. */
export interface McpEndpoint {
  handle(request: Request, facts: McpRequest): Promise<Response>
  /** Ends all clients and their sessions. */
  close(): Promise<void>
}

/** Opens the endpoint; `fetch` calls the API of this server. */
export type OpenMcp = (parts: {
  fetch(request: Request): Response | Promise<Response>
  readonly keys: Pick<KeyRing, 'whenLost'>
  /** Results of calls, which all servers that answer the same clients share. */
  readonly calls: IdempotencyStore
  /** Logs failures that no response reports. */
  readonly log: Log
}) => Promise<McpEndpoint>

/** Opens the endpoint at the first request. */
export class LazyMcp {
  readonly #open: () => Promise<McpEndpoint>
  #endpoint: Promise<McpEndpoint> | undefined

  constructor(open: () => Promise<McpEndpoint>) {
    this.#open = open
  }

  async handle(context: AppContext, streams: OpenStreams | undefined): Promise<Response> {
    const caller = context.get('caller')
    const outgoing = outgoingOf(context.env)
    const whenClosed = (listener: () => void) => void outgoing?.once('close', listener)
    const countStream = () => {
      const release = streams?.take(caller, null)
      if (release) whenClosed(release)
    }
    this.#endpoint ??= this.#open()
    const { raw } = context.req
    const rules = { maxBytes: limits.mcp.messageBytes, incoming: incomingOf(context.env) }
    const read = (signal: AbortSignal) => readBody(raw, { ...rules, signal })
    return (await this.#endpoint).handle(raw, { caller, read, whenClosed, countStream })
  }

  async close(): Promise<void> {
    await (await this.#endpoint)?.close()
  }
}

/** Builds the error of an engine that does not serve MCP, such as a worker, whose gateway does. */
export const noMcp = (): BaxError =>
  new BaxError('feature_disabled', 'MCP is not served here', { hint: 'use "bax mcp", or /mcp of "bax serve"' })
