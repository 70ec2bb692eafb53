/** The HTTP application: a list of middlewares, and one route per operation, made from the list. */
import { Hono } from 'hono'
import type { Access } from '../core/access/caller.ts'
import type { Engine } from '../core/engine.ts'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { route, routesOf } from '../core/operation/operation.ts'
import type { StreamOperation } from '../core/operation/stream.ts'
import { forCallers, hidesFrom, withSystemCause } from '../core/errors/system-errors.ts'
import type { Service } from '../core/operation/service.ts'
import { type Drain, drainer } from './process/drain.ts'
import type { AppContext, AppEnv } from './request/env.ts'
import { failure } from './request/failure.ts'
import { type Gate, gateKeeper, permit, shareWith } from './access/gate.ts'
import { acceptsFrames, answer, follow, type Ground, move } from './request/handlers.ts'
import { identify } from './request/request-id.ts'
import { Places, BodyRoom } from './access/load.ts'
import { OpenEnds } from './websocket/open-streams.ts'
import { livePage } from './live-view/page.ts'
import { makeOpenapi } from './openapi/openapi.ts'
import { limitRate, type Rates } from './access/rate.ts'
import { Repeats } from './request/repeats.ts'
import { type RequestEar, tellRequests } from './request/requests.ts'
import { answering, document, liveView, methodsAt, moving, streaming } from './request/routes.ts'

export interface AppOptions {
  readonly engine: Engine
  /** Which callers are let in; see `gate.ts`. */
  readonly gate: Gate
  /** Where websockets are served: on the same listener, at another base address, or nowhere. */
  readonly sockets?: Ground['sockets']
  /** The server that all of this is for; absent within a process. */
  readonly service?: Service
  /** Refuses what is new when the server is about to end. */
  readonly drain?: Drain
  /** How often callers may ask; with it come the bounds of a server on what it takes at once. */
  readonly rates?: Rates
  /** Hears of every request. */
  readonly ear?: RequestEar
  /** Called with every fault of ours (status 500), and with what callers are not told in full, for the log. */
  readonly onFault?: (error: BaxError, requestId: string) => void
}

export function createApp(options: AppOptions): Hono<AppEnv> {
  const { engine, gate, sockets: socketBase, service, drain, rates, ear, onFault } = options
  const app = new Hono<AppEnv>()
  // Only the machine's own user comes in where no host and no key is asked for.
  const isOwn = gate.hosts === null && gate.keys === null
  const heard = ear ? [tellRequests(ear)] : []
  const drained = drain ? [drainer(drain)] : []
  const rated = rates ? [limitRate(rates)] : []
  for (const middleware of [identify, ...heard, shareWith(gate), gateKeeper(gate), ...drained, ...rated])
    app.use('*', middleware)
  const { pages, bodyBytes } = rates ? limits.overload : { pages: Infinity, bodyBytes: Infinity }
  // Where no websockets are served, the page would have nothing to show.
  if (socketBase === 'here') addLiveView(app, gate)
  addRoutes(app, {
    engine,
    sockets: socketBase,
    service,
    repeats: new Repeats(),
    places: new Places(pages),
    bodies: new BodyRoom(bodyBytes),
    streams: rates && new OpenEnds('streams'),
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
    if (error.status === 500 || (!isOwn && hidesFrom(error))) onFault?.(error, context.get('requestId'))
    return failure(context, isOwn ? withSystemCause(error) : forCallers(error))
  })
  return app
}

function addRoutes(app: Hono<AppEnv>, ground: Ground): void {
  const serve = (http: string, access: Access, handler: (context: AppContext) => Promise<Response>) =>
    app.on(route(http).method, patternOf(route(http).path), permit(access), handler)
  const streamAt = new Map<string, StreamOperation>(streaming.map((stream) => [stream.http, stream]))
  for (const operation of answering) {
    for (const http of routesOf(operation)) {
      const stream = streamAt.get(http)
      // What can be read and followed at one address is followed by who accepts frames.
      serve(http, operation, (context) =>
        stream && acceptsFrames(context) ? follow(context, stream, ground) : answer(context, operation, ground),
      )
      streamAt.delete(http)
    }
  }
  for (const stream of streamAt.values()) serve(stream.http, stream, (context) => follow(context, stream, ground))
  for (const transfer of moving) serve(transfer.http, transfer, (context) => move(context, transfer, ground))
  let text: string | undefined
  serve(document.http, document, async (context) => {
    text ??= JSON.stringify(makeOpenapi())
    return context.body(text, 200, { 'content-type': 'application/json' })
  })
}

function addLiveView(app: Hono<AppEnv>, { origins }: Gate): void {
  app.on(route(liveView.http).method, patternOf(route(liveView.http).path), (context) =>
    livePage(context.req.raw, origins),
  )
}

/** The spelling of Hono; a field with a star takes the rest of the path. */
const patternOf = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{(\w+)\*\}/g, ':$1{[\\s\\S]+}')
