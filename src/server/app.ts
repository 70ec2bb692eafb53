/** The HTTP application: one route per operation, made from the list. */
import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Engine } from '../core/engine.ts'
import { asBaxError, BaxError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { type Call, type Operation, route, routesOf } from '../core/operation.ts'
import type { StreamCall, StreamOperation } from '../core/stream.ts'
import type { DownloadOperation, UploadOperation } from '../core/transfer.ts'
import { operations, streams, transfers } from '../operations/index.ts'
import { version } from '../core/version.ts'
import { admit, type Door } from './door.ts'
import { readInput } from './input.ts'
import { makeOpenapi } from './openapi.ts'
import { frameResponse } from './stream.ts'
import { Repeats } from './repeats.ts'
import { bodyOf, contentResponse } from './transfer.ts'

export interface AppOptions {
  readonly engine: Engine
  /** Which callers are let in; see `door.ts`. */
  readonly door: Door
  /** Where websockets are served: on the same listener, at another base address, or nowhere. */
  readonly sockets?: 'here' | `http${string}`
  /** Called with every fault of ours (status 500), for the log. */
  readonly onFault?: (error: BaxError, requestId: string) => void
}

type Fields = Record<string, string>

export function createApp({ engine, door, sockets, onFault }: AppOptions): Hono {
  const app = new Hono()
  const repeats = new Repeats()
  const answering = Object.values(operations as unknown as Record<string, Operation>)
  const streaming = Object.values(streams as unknown as Record<string, StreamOperation>)
  const moving = Object.values(transfers as unknown as Record<string, DownloadOperation | UploadOperation>)
  const all = [...answering, ...streaming, ...moving]

  app.use('*', async (context, next) => {
    const requestId = newId('req')
    context.set('requestId' as never, requestId as never)
    context.set('sockets' as never, (sockets ?? null) as never)
    admit(context.req.raw.headers, door)
    await next()
    context.header('x-request-id', requestId)
    context.header('x-bax-version', version)
  })

  const serve = (http: string, handler: (context: Context) => Promise<Response>) =>
    app.on(route(http).method, patternOf(route(http).path), handler)
  const streamAt = new Map<string, StreamOperation>(streaming.map((stream) => [stream.http, stream]))
  for (const operation of answering) {
    for (const http of routesOf(operation)) {
      const stream = streamAt.get(http)
      // What can be read and followed at one address is followed by who accepts frames.
      serve(http, (context) =>
        stream && acceptsFrames(context)
          ? follow(context, stream, engine)
          : answer(context, operation, { engine, repeats }),
      )
      streamAt.delete(http)
    }
  }
  for (const stream of streamAt.values()) serve(stream.http, (context) => follow(context, stream, engine))
  for (const transfer of moving) {
    serve(transfer.http, (context) =>
      'open' in transfer ? download(context, transfer, engine) : upload(context, transfer, engine),
    )
  }

  let document: string | undefined
  app.get('/openapi.json', (context) => {
    document ??= JSON.stringify(makeOpenapi(operations as never, streams as never, transfers as never))
    return context.body(document, 200, { 'content-type': 'application/json' })
  })

  app.notFound((context) => {
    const methods = [...all.flatMap(routesOf), 'GET /openapi.json']
      .map(route)
      .filter(({ path }) => matches(path, context.req.path))
      // What can be read can be asked for its head alone.
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    if (methods.length === 0)
      throw new BaxError('route_not_found', `no route ${context.req.method} ${context.req.path}`)
    const allow = [...new Set(methods)].join(', ')
    const message = `${context.req.method} is not allowed here; allowed: ${allow}`
    return failure(context, new BaxError('method_not_allowed', message), { allow })
  })

  app.onError((thrown, context) => {
    const error = asBaxError(thrown)
    if (error.status === 500) onFault?.(error, requestIdOf(context))
    return failure(context, error)
  })
  return app
}

/** The spelling of Hono; a field with a star takes the rest of the path. */
const patternOf = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{(\w+)\*\}/g, ':$1{[\\s\\S]+}')

async function answer(
  context: Context,
  operation: Operation,
  { engine, repeats }: { engine: Engine; repeats: Repeats },
): Promise<Response> {
  const rules = { maxBytes: operation.bodyBytes }
  const { input, warning } = await readInput(context.req.raw, operation.input, context.req.param() as Fields, rules)
  const run = async () => operation.run(engine, input as z.output<z.ZodObject>, callOf(context))
  const output = operation.idempotent
    ? await repeats.once(operation.http, context.req.raw.headers, input, run)
    : await run()
  if (operation.output === null) return context.body(null, 204)
  const lines = operation.lines?.(output as never, input as never)
  if (lines) {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return context.body(text, 200, { 'content-type': 'application/x-ndjson' })
  }
  const body = output as Record<string, unknown>
  const joined = [body['warning'], warning].filter(Boolean).join('; ')
  const status = operation.status?.(output as never) ?? 200
  return context.json(joined ? { ...body, warning: joined } : body, status as 200)
}

const acceptsFrames = (context: Context): boolean =>
  /text\/event-stream|application\/x-ndjson/.test(context.req.header('accept') ?? '')

async function follow(context: Context, stream: StreamOperation, engine: Engine): Promise<Response> {
  const rules = { maxBytes: stream.bodyBytes }
  const { input } = await readInput(context.req.raw, stream.input, context.req.param() as Fields, rules)
  const last = Number(context.req.header('last-event-id') || Number.NaN)
  const ended = new AbortController()
  const call: StreamCall = {
    ...callOf(context),
    signal: ended.signal,
    since: Number.isInteger(last) ? last : undefined,
  }
  const gone = () => ended.abort()
  context.req.raw.signal.addEventListener('abort', gone, { once: true })
  const frames = await stream.open(engine, input, call)
  if (frames === null) return context.body(null, 204)
  return frameResponse(frames, context.req.header('accept'), gone)
}

async function download(context: Context, operation: DownloadOperation, engine: Engine): Promise<Response> {
  const { raw } = context.req
  const fields = { ...(context.req.param() as Fields), ...restOfPath(operation.http, raw.url) }
  const { input } = await readInput(raw, operation.input, fields)
  return contentResponse(raw, await operation.open(engine, input as z.output<z.ZodObject>, callOf(context)))
}

async function upload(context: Context, operation: UploadOperation, engine: Engine): Promise<Response> {
  const { raw } = context.req
  const { input } = await readInput(raw, operation.input, context.req.param() as Fields, { hasJson: false })
  return context.json(await operation.receive(engine, input as z.output<z.ZodObject>, bodyOf(raw), callOf(context)))
}

/** The field with a star, percent-encoded as it came: its bytes need not be UTF-8. */
function restOfPath(http: string, url: string): Fields {
  const { path } = route(http)
  const [, name] = /\{(\w+)\*\}$/.exec(path) ?? []
  if (name === undefined) return {}
  const before = path.split('/').length - 1
  return { [name]: new URL(url).pathname.split('/').slice(before).join('/') }
}

function callOf(context: Context): Call {
  const baseUrl = new URL(context.req.url).origin
  const sockets = context.get('sockets') as NonNullable<AppOptions['sockets']> | null
  return {
    signal: context.req.raw.signal,
    baseUrl,
    socketBaseUrl: sockets === 'here' ? baseUrl : sockets,
    requestId: requestIdOf(context),
    preferAsync: context.req.header('prefer')?.includes('respond-async') ?? false,
  }
}

const requestIdOf = (context: Context): string => context.get('requestId')

function failure(context: Context, error: BaxError, headers: Record<string, string> = {}): Response {
  const id = requestIdOf(context)
  context.header('x-request-id', id)
  context.header('x-bax-version', version)
  if (error.status === 416) {
    const { size } = error.details as { size: number }
    context.header('content-range', `bytes */${size}`)
  }
  if (error.status === 401) context.header('www-authenticate', 'Bearer')
  if (error.status === 429 || error.status === 503) context.header('retry-after', String(error.retryAfterSecs ?? 1))
  if (error.status === 408 || error.status === 409 || (error.status >= 500 && !error.retryable))
    context.header('x-should-retry', 'false')
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
  return context.json(error.toBody(id), error.status as 400)
}

function matches(template: string, path: string): boolean {
  const pattern = template
    .replaceAll(/\{\w+\*\}/g, '{rest}')
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('{rest}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(path)
}
