/** Calls of operations by their routes. */
import type { Frame } from '../core/operation/call.ts'
import { plainRequest } from '../core/operation/request.ts'
import { route } from '../core/operation/route.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Transport, WireRequest, WireResponse } from './transport.ts'

/** The parts of an operation that a client needs. Both the manifest and the operations provide them. */
export interface OperationRoute {
  readonly name: string
  readonly http: string
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Rejects unknown fields instead of ignoring them. */
  readonly strict?: boolean
}

/**
 * Calls one operation, given its method and path.
 * @throws BaxError with the engine's error code, or `engine_unreachable`.
 */
export async function call(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const response = await transport.send(requestOf(http, input, options))
  const text = await response.text()
  if (response.status === 204) return undefined
  if (response.status === 200 && isText(response)) return text
  const body = parse(text)
  if (response.status >= 400) throw failureOf(body, input, response.status)
  return body
}

/** Returns whether a response is text, such as the metrics; those of other servers have another type. */
function isText({ headers }: WireResponse): boolean {
  const type = headers instanceof Headers ? headers.get('content-type') : headers['content-type']
  return type?.startsWith('text/plain; version=') === true
}

/** Rebuilds the error of a response, with the rejected input. */
const failureOf = (body: unknown, input: Record<string, unknown>, status: number): BaxError =>
  Object.assign(BaxError.fromBody(body, status === 401 ? 'unauthorized' : 'internal_error'), { input })

const requestOf = (http: string, input: Record<string, unknown>, { strict, signal }: CallOptions): WireRequest => ({
  ...plainRequest(http, input, strict),
  ...(signal && { signal }),
})

/**
 * Follows a stream, given its method and path, frame by frame; returns when the stream ends.
 * @throws BaxError as `call` does; `engine_unreachable` when the stream is interrupted.
 */
export async function* follow<F extends Frame = Frame>(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): AsyncGenerator<F> {
  const frames = await openStream<F>(transport, http, input, options)
  if (frames) yield* frames
}

/** Opens a stream without reading it yet; returns null when there is nothing left to follow. */
export async function openStream<F extends Frame = Frame>(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): Promise<AsyncGenerator<F> | null> {
  const request = requestOf(http, input, options)
  const response = await transport.send({ ...request, headers: { ...request.headers, accept: 'application/x-ndjson' } })
  if (response.status === 204) return null
  if (response.status >= 400) throw failureOf(parse(await response.text()), input, response.status)
  return framesOf(response, options)
}

async function* framesOf<F>(response: WireResponse, options: CallOptions): AsyncGenerator<F> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytesOf(response, options, 'the stream was interrupted')) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield parse(line) as F
  }
}

/** Response to a download. */
export interface Download {
  readonly status: number
  readonly headers: WireResponse['headers']
  /** Throws `engine_unreachable` when the transfer is interrupted. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Downloads bytes, given an operation's method and path or a path from an earlier response (`GET /shell/artifacts/…`).
 * @throws BaxError with the engine's error code, or `engine_unreachable`.
 */
export async function download(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  { headers = {}, ...options }: CallOptions & { readonly headers?: Record<string, string> } = {},
): Promise<Download> {
  const request = requestOf(http, input, options)
  const response = await transport.send({ ...request, headers: { ...request.headers, accept: '*/*', ...headers } })
  if (response.status >= 400) throw BaxError.fromBody(parse(await response.text()))
  return {
    status: response.status,
    headers: response.headers,
    bytes: bytesOf(response, options, 'the transfer was interrupted'),
  }
}

/** Uploads bytes; the fields become the query. @throws BaxError as `download` does. */
export async function upload(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  body: AsyncIterable<Uint8Array>,
  options: CallOptions = {},
): Promise<unknown> {
  const request = requestOf(http.replace(/^\w+/, 'GET'), input, options)
  const response = await transport.send({
    ...request,
    method: route(http).method,
    headers: { ...request.headers, 'content-type': 'application/octet-stream', accept: 'application/json' },
    bytes: body,
  })
  const answer = parse(await response.text())
  if (response.status >= 400) throw BaxError.fromBody(answer)
  return answer
}

/** Reads the bytes of a response. A truncated response is an error, not an end. */
async function* bytesOf(
  response: WireResponse,
  { signal }: CallOptions,
  interrupted: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* response.stream()
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof BaxError) throw cause
    throw new BaxError('engine_unreachable', interrupted, { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BaxError('engine_unreachable', 'the server responds, but it is not a bax server', {
      cause,
      hint: 'check --server or BAX_SERVER',
    })
  }
}
