/** Reads a request that a gateway forwards. */
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { anonymousCaller, type Caller, tokenOf } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import { limits } from '../../core/limits/limits.ts'
import type { HttpOperation } from '../../core/operation/operation.ts'
import { renameFields } from '../../core/operation/input/given-fields.ts'
import type { ParsedInput } from '../../core/operation/input/valid-input.ts'
import type { BodyReservation } from '../access/load.ts'
import type { AppContext } from '../request/env.ts'
import { callOf, type HandlerContext, pathFieldsOf } from '../request/handlers.ts'
import { readFields, validateFields } from '../request/input.ts'
import { readBody } from '../request/json-body.ts'
import { incomingOf, outgoingOf } from '../request/requests.ts'
import { forwardedHeaders } from './headers.ts'

/** A request to forward. Its worker validates the input; the gateway does before it acts or responds itself. */
export interface ForwardedRequest {
  readonly endpoint: HttpOperation
  /** The input as it was received, by the names in the schema, without absent fields. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Returns the validated input. @throws BaxError `invalid_request` */
  parsed(): ParsedInput
  readonly caller: Caller
  readonly requestId: string
  /** Whether a token, which the worker checks, may replace the rights of the caller. */
  readonly hasToken: boolean
  readonly method: string
  /** Path with query, as the client sent it. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  /** The body as it was received; a stream for uploads to the worker of an object. */
  readonly body: Uint8Array | NodeJS.ReadableStream | undefined
  /** Aborted when the client disconnects, or its key is revoked. */
  readonly signal: AbortSignal
}

export async function readRequest(
  context: AppContext,
  endpoint: HttpOperation,
  services: HandlerContext,
  memory: BodyReservation,
): Promise<ForwardedRequest> {
  const { raw } = context.req
  const isUpload = 'receive' in endpoint
  const incoming = incomingOf(context.env)
  const { bodyBytes: maxBytes = limits.bodyBytes } = endpoint as { readonly bodyBytes?: number }
  let bytes: Uint8Array | undefined
  const received = await readFields(raw, endpoint.input, pathFieldsOf(context, endpoint), {
    incoming,
    memory,
    hasJson: !isUpload,
    maxBytes,
    onBody: (body) => (bytes = body),
  })
  const fields = renameFields(endpoint.input, received)
  // Another worker may get a request that any worker can run, so its body must not be a stream, which is read once.
  const isStreamed = isUpload && endpoint.runs.on !== 'any'
  if (isUpload && !isStreamed) bytes = await readBody(raw, { maxBytes, incoming, memory })
  let valid: ParsedInput | undefined
  const parsed = () => (valid ??= validateFields(raw, endpoint.input, received))
  // Only operations have an error response of their own once their body or their frames are on the way.
  if (!('run' in endpoint)) parsed()
  const caller = context.get('caller')
  return {
    endpoint,
    fields,
    parsed,
    caller,
    requestId: context.get('requestId'),
    hasToken: endpoint.token === true && (fields['token'] !== undefined || caller === anonymousCaller),
    method: raw.method,
    target: incoming?.url ?? raw.url.slice(new URL(raw.url).origin.length),
    headers: forwardedHeaders(incoming?.headers ?? raw.headers),
    body: isStreamed ? streamOf(context) : bytes,
    signal: 'frame' in endpoint ? streamSignal(context, services, parsed()) : raw.signal,
  }
}

function streamOf(context: AppContext): NodeJS.ReadableStream {
  // Reading `body` would start to consume the incoming request.
  const incoming = incomingOf(context.env)
  if (incoming) return incoming
  const { body } = context.req.raw
  return body ? Readable.fromWeb(body as never) : Readable.from([])
}

/** Counts an open stream of the caller. Its worker ends it when the key is revoked, or else the signal does. */
function streamSignal(context: AppContext, { engine, streams }: HandlerContext, { input }: ParsedInput): AbortSignal {
  const controller = new AbortController()
  const { caller, token } = callOf(context, {})
  const end = () => controller.abort()
  const release = streams?.take(caller, tokenOf(input['token'] as string | undefined, { caller, token: token ?? null }))
  if (release) controller.signal.addEventListener('abort', release, { once: true })
  context.req.raw.signal.addEventListener('abort', end, { once: true })
  const outgoing = outgoingOf(context.env)
  if (outgoing?.destroyed) end()
  outgoing?.once('close', end)
  endWhenRevoked(engine, caller, end, controller.signal)
  return controller.signal
}

/** Ends a connection some time after its key was revoked, unless the worker has ended it as it should. */
export function endWhenRevoked(engine: Engine, { keyId }: Caller, end: () => void, signal: AbortSignal): void {
  if (keyId === null) return
  engine.keys.whenLost(keyId, () => setTimeout(end, limits.gateway.revokedMs).unref(), signal)
}
