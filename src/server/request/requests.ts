/** Request IDs, and reports of every completed request for the log and the metrics. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { Log } from '../../core/config/config.ts'
import { newId } from '../../core/ids.ts'
import { version } from '../../core/version.ts'
import type { AppEnv } from './env.ts'
import { addHeaders } from './response-headers.ts'
import { nameAt } from './routes.ts'

/** Assigns an ID to every request and sends it in the response. */
export const assignRequestId: MiddlewareHandler<AppEnv> = async (context, next) => {
  // Hono calls this twice for the path `/*`.
  if (context.get('requestId') !== undefined) return next()
  const requestId = newId('req')
  context.set('requestId', requestId)
  // Responses can contain foreign text, which browsers must not interpret as HTML.
  const fixed = { 'x-bax-version': version, 'x-content-type-options': 'nosniff' }
  await addHeaders(context, { 'x-request-id': requestId, ...fixed }, next)
}

/** A completed request. Contains no secrets: neither the query nor any header except `x-request-id` and `traceparent`. */
export interface RequestFacts {
  readonly requestId: string
  /** Caller-supplied request ID (`x-request-id`), if printable. Never used as our own ID. */
  readonly clientRequestId?: string
  /** Trace of the caller (`traceparent`), if valid. */
  readonly traceId?: string
  /** Name of the operation, `unknown` if there is none at the URL. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Time until the last byte of the response or stream, in milliseconds. */
  readonly ms: number
  /** Bytes sent, including headers; 0 for calls within the process. */
  readonly bytes: number
  readonly keyId: string | null
  /** Whether the client disconnected before the response was complete. */
  readonly cut: boolean
}

/** Notified when a request starts (`open`) and when it has completed (`done`). */
export interface RequestListener {
  open(): void
  done(request: RequestFacts): void
}

export function reportRequests({ open, done }: RequestListener): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const start = performance.now()
    const { method, path } = context.req
    const outgoing = outgoingOf(context.env)
    const before = outgoing?.socket?.bytesWritten ?? 0
    const clientRequestId = context.req.header('x-request-id')
    const traceId = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-/.exec(context.req.header('traceparent') ?? '')?.[1]
    const report = (status: number, bytes: number, cut: boolean) =>
      done({
        requestId: context.get('requestId'),
        ...(clientRequestId !== undefined && isLoggable(clientRequestId) && { clientRequestId }),
        ...(traceId !== undefined && { traceId }),
        operation: nameAt(method, path) ?? 'unknown',
        method,
        path,
        status,
        ms: performance.now() - start,
        bytes,
        keyId: context.get('caller')?.keyId ?? null,
        cut,
      })
    open()
    if (outgoing) {
      // The response drops its reference to the socket before it emits `close`.
      const { socket } = outgoing
      outgoing.once('close', () =>
        report(outgoing.statusCode, (socket?.bytesWritten ?? before) - before, !outgoing.writableFinished),
      )
      return next()
    }
    await next()
    report(context.res.status, 0, false)
  }
}

export function requestLogger(log: Log): (request: RequestFacts) => void {
  return ({ requestId, clientRequestId, traceId, operation, method, path, status, ms, bytes, keyId, cut }) =>
    log('info', 'request', {
      request_id: requestId,
      ...(clientRequestId !== undefined && { client_request_id: clientRequestId }),
      ...(traceId !== undefined && { trace_id: traceId }),
      operation,
      method,
      path: path.length > maxPathChars ? `${path.slice(0, maxPathChars)}…` : path,
      status,
      ms: Math.round(ms * 10) / 10,
      bytes,
      key_id: keyId,
      ...(cut && { cut }),
    })
}

const maxPathChars = 200

const isLoggable = (id: string): boolean => /^[\w.:-]{1,128}$/.test(id)

/** Returns Node's request object; undefined for calls within the process. */
export const incomingOf = (env: unknown): IncomingMessage | undefined =>
  (env as { incoming?: IncomingMessage } | undefined)?.incoming

/** Returns Node's response object; undefined for calls within the process. */
export const outgoingOf = (env: unknown): ServerResponse | undefined =>
  (env as { outgoing?: ServerResponse } | undefined)?.outgoing
