/** The HTTP server of bax: middlewares, and one route for each operation in the list. */
import { Hono } from 'hono'
import type { Access } from '../core/access/caller.ts'
import type { Engine } from '../core/engine.ts'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import type { Service } from '../core/operation/call.ts'
import type { HttpOperation, StreamOperation } from '../core/operation/operation.ts'
import type { RateLimits, Stores } from '../core/stores.ts'
import { replaceFields, route, routesOf } from '../core/operation/route.ts'
import type { ParsedInput } from '../core/operation/input/valid-input.ts'
import type { Forwarder } from './gateway/forwarder.ts'
import { hidesDetails, publicError, systemCode, withSystemCause } from '../core/errors/system-errors.ts'
import { type Drain, drainMiddleware } from './process/drain.ts'
import type { AppContext, AppEnv } from './request/env.ts'
import { failure } from './request/error-response.ts'
import { type Gate, authenticate, requireScope, allowOrigins } from './access/gate.ts'
import {
  acceptsFrames,
  handleOperation,
  handleStream,
  type HandlerContext,
  handleTransfer,
} from './request/handlers.ts'
import { BodyMemory, OpenStreams, WorkSlots } from './access/load.ts'
import { refuse, signAnswers } from './access/sign-answers.ts'
import { livePage } from './live-view/page.ts'
import { type LazyMcp, noMcp } from './mcp.ts'
import { makeOpenapi } from './openapi/openapi.ts'
import { limitRate } from './access/rate.ts'
import { IdempotencyCache } from './request/idempotency.ts'
import { assignRequestId, type RequestListener, reportRequests } from './request/requests.ts'
import {
  botDirectory,
  mcpRoute,
  operationList,
  document,
  liveView,
  methodsAt,
  transferList,
  streamList,
} from './request/routes.ts'

export interface AppOptions {
  readonly engine: Engine
  /** Set on a gateway: passes requests to the workers. */
  readonly forwarder?: Forwarder | undefined
  /** Access rules; see `access/gate.ts`. */
  readonly gate: Gate
  /** Where websockets are served: on the same listener, at another base URL, or nowhere. */
  readonly sockets?: HandlerContext['sockets']
  /** State and metrics of the server; absent for calls within the process. */
  readonly service?: Service
  /** Rejects new work while the server shuts down. */
  readonly drain?: Drain
  /** Rate limits. Also enables the limits on concurrent work, body memory and open streams. */
  readonly rates?: RateLimits
  /** Stores that replace those of this process, where machines share them. */
  readonly stores?: Pick<Partial<Stores>, 'idempotency'>
  /** Serves `/mcp`; without it, requests for it fail. */
  readonly mcp?: LazyMcp | undefined
  /** Limits heavy operations, with a limit of its own by default. */
  readonly workSlots?: WorkSlots | undefined
  readonly requestListener?: RequestListener
  /** Called, for the log, with internal errors (status 500) and with errors whose details are hidden from callers. */
  readonly onError?: (error: BaxError, requestId: string) => void
  /** Called when the browser or Docker of a worker is unavailable to a request. */
  readonly onUnavailable?: ((error: BaxError) => void) | undefined
}

export function createApp(options: AppOptions): Hono<AppEnv> {
  const { engine, gate, sockets: socketBase, service, drain, rates, requestListener, onError, forwarder } = options
  const app = new Hono<AppEnv>()
  // Without a check of host or key, only the machine's own user can connect.
  const isOwn = gate.hosts === null && gate.keys === null && !gate.forwarded
  const early = [
    gate.forwarded && signAnswers(gate.forwarded),
    assignRequestId,
    requestListener && reportRequests(requestListener),
    allowOrigins(gate),
    authenticate(gate),
  ]
  for (const middleware of [
    ...early,
    drain && drainMiddleware(drain, gate.forwarded !== undefined),
    rates && limitRate(rates),
  ])
    if (middleware) app.use('*', middleware)
  const { pages, bodyBytes } = rates ? limits.overload : { pages: Infinity, bodyBytes: Infinity }
  const streams = rates && new OpenStreams('streams')
  // The live view gets its content over a websocket.
  if (socketBase === 'here')
    app.on(route(liveView.http).method, patternOf(route(liveView.http).path), ({ req }) =>
      livePage(req.raw, gate.origins),
    )
  addRoutes(app, {
    engine,
    sockets: socketBase,
    service,
    idempotency: options.stores?.idempotency ?? new IdempotencyCache(),
    workSlots: options.workSlots ?? new WorkSlots(pages),
    bodies: new BodyMemory(bodyBytes),
    streams,
    forwarder,
    fetch: (request) => app.fetch(request),
  })
  app.on(['POST', 'GET', 'DELETE'], route(mcpRoute.http).path, requireScope(mcpRoute), (context) => {
    if (!options.mcp) throw noMcp()
    return options.mcp.handle(context, streams)
  })
  app.notFound((context) => {
    const methods = methodsAt(context.req.path)
    if (methods.length === 0)
      throw new BaxError('route_not_found', `no route ${context.req.method} ${context.req.path}`)
    const allow = methods.join(', ')
    const message = `${context.req.method} is not allowed here; allowed: ${allow}`
    return failure(context, new BaxError('method_not_allowed', message), { allow })
  })
  app.onError((thrown, context) => {
    const error = asBaxError(thrown)
    // The end of an upload whose caller has left is no fault, and nobody receives the error.
    const hasLeft = context.req.raw.signal.aborted && systemCode(thrown) === 'ECONNRESET'
    if (!hasLeft && (error.status === 500 || (!isOwn && hidesDetails(error))))
      onError?.(error, context.get('requestId'))
    // The gateway reports it, since its caller is not at fault.
    if (context.get('signedBody')?.isForged) refuse(context, 'signature')
    const refused = gate.forwarded !== undefined && error.unavailable
    if (refused) options.onUnavailable?.(error)
    if (refused) refuse(context, 'unavailable')
    return failure(context, isOwn ? withSystemCause(error) : publicError(error))
  })
  return app
}

function addRoutes(app: Hono<AppEnv>, services: HandlerContext & Pick<AppOptions, 'forwarder'>): void {
  const { forwarder } = services
  /** Runs an operation here, or on a gateway where it belongs. */
  const placed = (context: AppContext, endpoint: HttpOperation, local: (parsed?: ParsedInput) => Promise<Response>) =>
    forwarder ? forwarder.handle(context, endpoint, services, local) : local()
  const serve = (http: string, access: Access, handler: (context: AppContext) => Promise<Response>) =>
    app.on(route(http).method, patternOf(route(http).path), requireScope(access), handler)
  const streamAt = new Map<string, StreamOperation>(streamList.map((stream) => [stream.http, stream]))
  for (const operation of operationList) {
    for (const http of routesOf(operation)) {
      const stream = streamAt.get(http)
      // A URL with both an operation and a stream serves the stream to clients that accept frames.
      serve(http, operation, (context) =>
        stream && acceptsFrames(context)
          ? placed(context, stream, () => handleStream(context, stream, services))
          : placed(context, operation, (parsed) => handleOperation(context, operation, services, parsed)),
      )
      streamAt.delete(http)
    }
  }
  for (const stream of streamAt.values())
    serve(stream.http, stream, (context) => placed(context, stream, () => handleStream(context, stream, services)))
  for (const transfer of transferList)
    serve(transfer.http, transfer, (context) =>
      placed(context, transfer, () => handleTransfer(context, transfer, services)),
    )
  let text: string | undefined
  serve(document.http, document, async (context) => {
    text ??= JSON.stringify(makeOpenapi())
    return context.body(text, 200, { 'content-type': 'application/json' })
  })
  serve(botDirectory.http, botDirectory, async (context) => {
    const directory = await services.engine.botDirectory()
    if (directory) return context.body(directory.body, 200, { ...directory.headers })
    throw new BaxError('key_not_found', 'this server has no key of a bot')
  })
}

/** Converts a path template to Hono's syntax; a field with a star takes the rest of the path. */
const patternOf = (path: string): string =>
  replaceFields(path, (name, isRest) => `:${name}${isRest ? String.raw`{[\s\S]+}` : ''}`)
