/** The typed client: one method per operation, made from the list. */
import type { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import { type Operation, pathFields, route } from '../core/operation/operation.ts'
import type { Operations } from '../operations/index.ts'
import type { Frame } from '../core/operation/stream.ts'
import type { Transport, WireRequest, WireResponse } from './transport.ts'

/** What a client must know of an operation: its address. The manifest and the operations both have it. */
export interface Addressed {
  readonly name: string
  readonly http: string
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Refuse unknown fields instead of ignoring them. */
  readonly strict?: boolean
}

type Answer<O> = O extends Operation<infer _In, infer Out> ? (Out extends z.ZodType ? z.output<Out> : void) : never
type Input<O> = O extends Operation<infer In, infer _Out> ? z.input<In> : never

export type Client = {
  readonly [Name in keyof Operations]: (
    input?: Input<Operations[Name]>,
    options?: CallOptions,
  ) => Promise<Answer<Operations[Name]>>
}

export function createClient(transport: Transport, operations: readonly Addressed[]): Client {
  return Object.fromEntries(
    operations.map(({ name, http }) => [
      name,
      (input: Record<string, unknown> = {}, options: CallOptions = {}) => call(transport, http, input, options),
    ]),
  ) as Client
}

/**
 * Calls one operation by its address.
 * @throws BaxError with the code that the engine answered, or `engine_unreachable`.
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
  const body = parse(text)
  if (response.status >= 400) throw BaxError.fromBody(body, response.status === 401 ? 'unauthorized' : 'internal_error')
  return body
}

function requestOf(http: string, input: Record<string, unknown>, options: CallOptions): WireRequest {
  const { method, path: template } = route(http)
  const inPath = new Set(pathFields(template))
  for (const name of inPath) {
    if (input[name] === undefined || input[name] === '')
      throw new BaxError('invalid_request', `${name} is required`, {
        details: [{ path: name, message: 'is required' }],
      })
  }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.has(name) && value !== undefined)
  const hasBody = method === 'POST' || method === 'PUT'
  const query = hasBody ? '' : new URLSearchParams(rest.map(([name, value]) => [name, String(value)])).toString()
  return {
    method,
    path: query ? `${path}?${query}` : path,
    headers: {
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(options.strict && { prefer: 'handling=strict' }),
    },
    ...(hasBody && { body: JSON.stringify(Object.fromEntries(rest)) }),
    ...(options.signal && { signal: options.signal }),
  }
}

/**
 * Follows a stream by its address, frame by frame; ends with the stream.
 * @throws BaxError as `call` does; `engine_unreachable` when the stream breaks off.
 */
export async function* follow(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): AsyncGenerator<Frame> {
  const frames = await openStream(transport, http, input, options)
  if (frames) yield* frames
}

/** The same with the opening apart; null when there is nothing to follow any more. */
export async function openStream(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): Promise<AsyncGenerator<Frame> | null> {
  const request = requestOf(http, input, options)
  const response = await transport.send({ ...request, headers: { ...request.headers, accept: 'application/x-ndjson' } })
  if (response.status === 204) return null
  if (response.status >= 400) throw BaxError.fromBody(parse(await response.text()))
  return framesOf(response, options)
}

async function* framesOf(response: WireResponse, { signal }: CallOptions): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of response.stream()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) yield parse(line) as Frame
    }
  } catch (cause) {
    if (cause instanceof BaxError || signal?.aborted) throw cause
    throw new BaxError('engine_unreachable', 'the stream broke off', { cause })
  }
}

/** Bytes that a download answered with. */
export interface Downloaded {
  readonly status: number
  readonly headers: WireResponse['headers']
  /** Throws `engine_unreachable` when they break off. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Asks for bytes by an operation's address, or by a path as an answer gave it (`GET /shell/artifacts/…`).
 * @throws BaxError with the code that the engine answered, or `engine_unreachable`.
 */
export async function download(
  transport: Transport,
  http: string,
  input: Record<string, unknown>,
  { headers = {}, ...options }: CallOptions & { readonly headers?: Record<string, string> } = {},
): Promise<Downloaded> {
  const request = requestOf(http, input, options)
  const response = await transport.send({ ...request, headers: { ...request.headers, accept: '*/*', ...headers } })
  if (response.status >= 400) throw BaxError.fromBody(parse(await response.text()))
  return { status: response.status, headers: response.headers, bytes: whole(response, options) }
}

/** Sends bytes; the fields go into the query. @throws BaxError as `download` does. */
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

/** The bytes of a response; one that is cut off is a failure, not an end. */
async function* whole(response: WireResponse, { signal }: CallOptions): AsyncGenerator<Uint8Array> {
  try {
    yield* response.stream()
  } catch (cause) {
    if (cause instanceof BaxError || signal?.aborted) throw cause
    throw new BaxError('engine_unreachable', 'the transfer broke off', { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BaxError('engine_unreachable', 'the address answers, but not as a bax server', {
      cause,
      hint: 'check --server or BAX_SERVER',
    })
  }
}
