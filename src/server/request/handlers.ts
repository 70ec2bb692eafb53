/** Request handlers: read the input of an operation, run it, and convert its output to a response. */
import type { Call, Service, StreamCall } from '../../core/operation/call.ts'
import type {
  DownloadOperation,
  HttpOperation,
  Operation,
  StreamOperation,
  UploadOperation,
} from '../../core/operation/operation.ts'
import { withWrittenNames } from '../../core/operation/input/given-fields.ts'
import { pathMatcher, route } from '../../core/operation/route.ts'
import type { ParsedInput } from '../../core/operation/input/valid-input.ts'
import { tokenOf } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import type { IdempotencyStore } from '../../core/stores.ts'
import type { AppContext } from './env.ts'
import { credentialOf } from '../access/gate.ts'
import { readInput } from './input.ts'
import type { BodyReservation, BodyMemory, OpenStreams, WorkSlots } from '../access/load.ts'
import { asCaller } from './own-requests.ts'
import { incomingOf, outgoingOf } from './requests.ts'
import { frameResponse } from './stream.ts'
import { bodyOf, contentResponse } from './transfer.ts'

export interface HandlerContext {
  readonly engine: Engine
  readonly idempotency: IdempotencyStore
  /** Where websockets are served: on the same listener, at another base URL, or nowhere. */
  readonly sockets?: 'here' | `http${string}` | undefined
  /** State and metrics of the server; absent for calls within the process. */
  readonly service?: Service | undefined
  readonly workSlots: WorkSlots
  readonly bodies: BodyMemory
  /** Limits open streams; absent if they are unlimited. */
  readonly streams?: OpenStreams | undefined
  /** Sends a request to this app. */
  readonly fetch: (request: Request) => Response | Promise<Response>
}

export function handleOperation(
  context: AppContext,
  operation: Operation,
  services: HandlerContext,
  parsed?: ParsedInput,
): Promise<Response> {
  const memory = services.bodies.open(context.get('caller'))
  return runOperation(context, operation, services, { memory, parsed }).finally(memory.close)
}

async function runOperation(
  context: AppContext,
  operation: Operation,
  services: HandlerContext,
  { memory, parsed }: { readonly memory: BodyReservation; readonly parsed: ParsedInput | undefined },
): Promise<Response> {
  const { engine, workSlots } = services
  const { raw } = context.req
  const signed = context.get('signedBody')
  const rules = { maxBytes: operation.bodyBytes, incoming: incomingOf(context.env), memory, signed }
  const given = parsed ?? (await readInput(raw, operation.input, context.req.param(), rules))
  const { input } = given
  const call = callOf(context, services)
  const work = () => withWrittenNames(input, () => operation.run(engine, input, call))
  const run = operation.heavy ? () => workSlots.run(call.caller, work) : work
  const output = operation.idempotent
    ? await runIdempotent(operation, call, { services, raw, input, run })
    : await run()
  if (operation.output === null) return context.body(null, 204)
  const lines = operation.lines?.(output, input)
  if (lines) {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return context.body(text, 200, { 'content-type': 'application/x-ndjson' })
  }
  if (operation.text !== undefined) return context.body(output as string, 200, { 'content-type': operation.text })
  const { body, status } = answerOf(operation, output, given)
  return context.json(body, status as 200)
}

/** Returns the body and the status of an answer in JSON. */
export function answerOf(operation: Operation, output: unknown, { input, warning }: ParsedInput) {
  const body = output as Record<string, unknown>
  const joined = [body['warning'], warning].filter(Boolean).join('; ')
  const status = operation.status?.(output, input) ?? 200
  if (!joined) return { body, status }
  const warned = operation.withWarning?.(output, joined) ?? { ...body, warning: joined }
  return { body: warned as Record<string, unknown>, status }
}

interface IdempotentRun {
  readonly services: HandlerContext
  readonly raw: Request
  readonly input: unknown
  readonly run: () => Promise<unknown>
}

/** Returns the output of the first request with the same key. With `replay`, repeats rebuild it from a small note. */
async function runIdempotent(
  { http, replay }: Operation,
  call: Call,
  { services: { engine, idempotency }, raw, input, run }: IdempotentRun,
): Promise<unknown> {
  const key = { operation: http, caller: call.caller, headers: raw.headers, signal: call.signal }
  if (!replay) return idempotency.once(key, input, run)
  let first: { output: unknown } | undefined
  const note = await idempotency.once(key, input, async () => {
    first = { output: await run() }
    return replay.summarize(first.output)
  })
  return first ? first.output : replay.restore(engine, note, call)
}

export const acceptsFrames = (context: AppContext): boolean =>
  /text\/event-stream|application\/x-ndjson/.test(context.req.header('accept') ?? '')

export async function handleStream(
  context: AppContext,
  stream: StreamOperation,
  services: HandlerContext,
): Promise<Response> {
  const memory = services.bodies.open(context.get('caller'))
  const signed = context.get('signedBody')
  const rules = { maxBytes: stream.bodyBytes, incoming: incomingOf(context.env), memory, signed }
  const { input } = await readInput(context.req.raw, stream.input, context.req.param(), rules).finally(memory.close)
  const last = Number(context.req.header('last-event-id') || Number.NaN)
  const controller = new AbortController()
  const call: StreamCall = {
    ...callOf(context, services),
    signal: controller.signal,
    since: Number.isInteger(last) ? last : undefined,
  }
  const end = () => controller.abort()
  const release = services.streams?.take(call.caller, tokenOf(input['token'] as string | undefined, call))
  if (release) controller.signal.addEventListener('abort', release, { once: true })
  context.req.raw.signal.addEventListener('abort', end, { once: true })
  // The response to HEAD has no body that could be cancelled, so the connection is watched too.
  const outgoing = outgoingOf(context.env)
  if (outgoing?.destroyed) end()
  outgoing?.once('close', end)
  // Close the stream when its key is revoked.
  if (call.caller.keyId !== null) services.engine.keys.whenLost(call.caller.keyId, end, controller.signal)
  try {
    const frames = await withWrittenNames(input, () => stream.open(services.engine, input, call))
    if (frames !== null) return frameResponse(frames, context.req.header('accept'), end, outgoing)
    end()
    return context.body(null, 204)
  } catch (error) {
    end()
    throw error
  }
}

export async function handleTransfer(
  context: AppContext,
  transfer: DownloadOperation | UploadOperation,
  services: HandlerContext,
): Promise<Response> {
  const { raw } = context.req
  if ('receive' in transfer) {
    const { input } = await readInput(raw, transfer.input, context.req.param(), { hasJson: false })
    const call = { ...callOf(context, services), contentType: context.req.header('content-type') }
    const body = bodyOf(raw, incomingOf(context.env), context.get('signedBody'))
    return context.json(await withWrittenNames(input, () => transfer.receive(services.engine, input, body, call)))
  }
  const { input } = await readInput(raw, transfer.input, pathFieldsOf(context, transfer))
  const content = await withWrittenNames(input, () => transfer.open(services.engine, input, callOf(context, services)))
  return contentResponse(raw, content, outgoingOf(context.env))
}

/** Returns the fields in the path. Hono decodes the rest of a path, whose bytes may not be UTF-8. */
export function pathFieldsOf(context: AppContext, endpoint: HttpOperation): Record<string, string> {
  const fields = context.req.param()
  if (!('open' in endpoint) || 'frame' in endpoint) return fields
  return { ...fields, ...pathMatcher(route(endpoint.http).path)(new URL(context.req.raw.url).pathname) }
}

type CallFacts = Partial<Pick<HandlerContext, 'sockets' | 'service' | 'fetch'>>

export function callOf(context: AppContext, { sockets, service, fetch }: CallFacts): Call {
  const reservation = context.get('reservation')
  const { url } = context.req
  // The URL is normalized; parsing it takes longer. The TLS of a worker ends at its gateway, whose own URL is http.
  const origin = url.slice(0, url.indexOf('/', url.indexOf('//') + 2)).replace(/^https:/, 'http:')
  return {
    caller: context.get('caller'),
    signal: context.req.raw.signal,
    // Over a private socket or within the process there is no base URL: URLs in responses are paths.
    baseUrl: sockets === 'here' ? origin : '',
    socketBaseUrl: sockets === 'here' ? origin : (sockets ?? null),
    requestId: context.get('requestId'),
    token: credentialOf(context.req.raw.headers) ?? null,
    preferAsync: context.req.header('prefer')?.includes('respond-async') ?? false,
    ...(reservation !== undefined && { reservation }),
    ...(service && { service }),
    ...(fetch && { ask: asCaller(context.req.raw, fetch) }),
  }
}
