/** Tells of every request when it is over: for the log, and for what is counted. */
import type { ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { Log } from '../../core/config/config.ts'
import type { AppEnv } from './env.ts'
import { nameAt } from './routes.ts'

/** One request that is over. Nothing in it is a secret: no query, no header but the one named here. */
export interface RequestFacts {
  readonly requestId: string
  /** What the caller calls it (`x-request-id`), if it is fit to be read; ours is never taken from outside. */
  readonly clientRequestId?: string
  /** Name of the operation, `unknown` where there is none at the address. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Until the last byte of the answer, of a stream too. */
  readonly ms: number
  /** Sent on the wire, headers included; 0 within a process. */
  readonly bytes: number
  /** Id of the caller's key, never the key. */
  readonly keyId: string | null
  /** The caller went away before the answer was complete. */
  readonly cut: boolean
}

/** Tells of requests; `open` is called when one comes, and what it gives when that one is over. */
export interface RequestEar {
  open(): void
  done(request: RequestFacts): void
}

export function tellRequests({ open, done }: RequestEar): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const start = performance.now()
    const { method, path } = context.req
    const outgoing = outgoingOf(context.env)
    const before = outgoing?.socket?.bytesWritten ?? 0
    const told = context.req.header('x-request-id')
    const over = (status: number, bytes: number, cut: boolean) =>
      done({
        requestId: context.get('requestId'),
        ...(told !== undefined && isFit(told) && { clientRequestId: told }),
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
      // Kept: the answer lets go of its socket before it tells that it has ended.
      const { socket } = outgoing
      outgoing.once('close', () =>
        over(outgoing.statusCode, (socket?.bytesWritten ?? before) - before, !outgoing.writableFinished),
      )
      return next()
    }
    await next()
    over(context.res.status, 0, false)
  }
}

/** The line of a request in the log. */
export function accessLine(log: Log): (request: RequestFacts) => void {
  return ({ requestId, clientRequestId, operation, method, path, status, ms, bytes, keyId, cut }) =>
    log('info', 'request', {
      request_id: requestId,
      ...(clientRequestId !== undefined && { client_request_id: clientRequestId }),
      operation,
      method,
      path: path.length > longestPath ? `${path.slice(0, longestPath)}…` : path,
      status,
      ms: Math.round(ms * 10) / 10,
      bytes,
      key_id: keyId,
      ...(cut && { cut }),
    })
}

const longestPath = 200

/** What may stand in a log as it is. */
const isFit = (id: string): boolean => /^[\w.:-]{1,128}$/.test(id)

/** The answer as Node writes it; absent where the app is called within a process. */
export const outgoingOf = (env: unknown): ServerResponse | undefined =>
  (env as { outgoing?: ServerResponse } | undefined)?.outgoing
