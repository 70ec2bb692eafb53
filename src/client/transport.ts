/** Three transports to an engine behind one interface. Those over a wire use node:http: fetch adds 30 ms of startup. */
import type * as http from 'node:http'
import { Readable } from 'node:stream'
import { BaxError } from '../core/errors/errors.ts'
import { systemReason } from '../core/errors/system-errors.ts'
import { untilAborted } from '../core/process/until-aborted.ts'

export interface WireRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Request body as a stream of bytes; not supported by `overQuickSocket`. */
  readonly bytes?: AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

export interface WireResponse {
  readonly status: number
  readonly headers: Headers | http.IncomingHttpHeaders
  /** Reads the whole body. */
  text(): Promise<string>
  /** The body in chunks, as they arrive. */
  stream(): AsyncIterable<Uint8Array>
}

export interface Transport {
  send(request: WireRequest): Promise<WireResponse>
  close(): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>

/** Calls an app in this process; `close` releases what was opened for it. */
export function embedded(fetch: Fetch, close: () => Promise<void> = async () => {}): Transport {
  return {
    async send({ method, path, headers, body, bytes, signal }) {
      // Unlike a connection, the app does not notice that the caller has left.
      const source = bytes && Readable.from(signal ? untilAborted(bytes, signal) : bytes)
      let sendFailure: Error | undefined
      source?.once('error', (error) => (sendFailure = error))
      const request = new Request(`http://localhost${path}`, {
        method,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
        // Node also accepts iterables, unlike the type of the DOM.
        ...(source && { body: source as never, duplex: 'half' as const }),
        ...(signal && { signal }),
      })
      const response = await fetch(request)
      // An app answers an aborted request too, for example with what was done until then.
      signal?.throwIfAborted()
      if (sendFailure) throw sendFailure
      return {
        status: response.status,
        headers: response.headers,
        text: () => response.text(),
        stream: () => chunksOf(response.body, signal),
      }
    },
    close,
  }
}

/**
 * Yields the chunks of a body until the signal aborts. The request's own signal is not enough: it follows the caller's
 * signal through a weak reference, which is lost with the request while its response is still being read.
 */
async function* chunksOf(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  // A body that has failed cannot be cancelled; its reader receives the error.
  const cancel = () => void reader?.cancel(signal?.reason).catch(() => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', cancel)
    await reader?.cancel()
  }
}

/** Sends HTTP over a Unix socket (a named pipe on Windows). */
export const overSocket = (socketPath: string, headers: Record<string, string> = {}): Transport =>
  overNodeHttp({ socketPath, host: 'localhost' }, headers, socketPath)

/** Sends HTTP or HTTPS to a server's base URL. */
export function overHttp(base: string, headers: Record<string, string> = {}): Transport {
  const { protocol, hostname, port, pathname } = new URL(base)
  const prefix = pathname.replace(/\/$/, '')
  return overNodeHttp(
    { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), ...(port && { port }) },
    headers,
    base,
    prefix,
  )
}

function overNodeHttp(
  target: http.RequestOptions,
  always: Record<string, string>,
  name: string,
  prefix = '',
): Transport {
  return {
    async send({ method, path, headers, body, bytes, signal }) {
      const node: Pick<typeof http, 'request'> = await (target.protocol === 'https:'
        ? import('node:https')
        : import('node:http'))
      return new Promise<WireResponse>((resolve, reject) => {
        const options = {
          ...target,
          method,
          path: prefix + path,
          headers: { ...always, ...headers },
          ...(signal && { signal }),
          agent: false as const,
        }
        const request = node.request(options, (response) => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: async () => {
              const chunks: Buffer[] = []
              try {
                for await (const chunk of response) chunks.push(chunk as Buffer)
              } catch (error) {
                signal?.throwIfAborted()
                throw unreachable(name, error)
              }
              return Buffer.concat(chunks).toString()
            },
            stream: () => response,
          })
        })
        request.on('error', (error) => reject(signal?.aborted ? signal.reason : unreachable(name, error)))
        if (!bytes) return void request.end(body)
        // The caller's own error, such as that of reading a file, is reported instead of the end of the request.
        send(bytes, request).catch((error: unknown) => {
          reject(error)
          request.destroy()
        })
      })
    },
    async close() {},
  }
}

/** Sends a body chunk by chunk and respects backpressure. */
async function send(bytes: AsyncIterable<Uint8Array>, request: http.ClientRequest): Promise<void> {
  for await (const piece of bytes) {
    if (request.destroyed) return
    if (request.write(piece)) continue
    await new Promise<void>((resolve) => {
      const go = () => {
        request.off('drain', go)
        request.off('close', go)
        resolve()
      }
      request.on('drain', go)
      request.on('close', go)
    })
  }
  request.end()
}

/** Error codes that mean no connection was made. */
const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EACCES',
])

/** Builds the error for a call that could not reach its engine or lost the connection to it. */
export function unreachable(name: string, cause: unknown): BaxError {
  const code = (cause as NodeJS.ErrnoException).code
  const why =
    code === 'ECONNREFUSED' || code === 'ENOENT'
      ? 'nothing is listening there'
      : code === 'ECONNRESET' || code === 'EPIPE'
        ? 'the connection was lost during the call'
        : systemReason(cause as Error)
  return new BaxError('engine_unreachable', `cannot reach the engine at ${name}: ${why}`, {
    hint: 'start a server with "bax serve", or omit --server to use a local engine',
    // The request may have been executed once a connection was made.
    ...(!unsent.has(code ?? '') && { details: { outcome: 'unknown' } }),
    cause,
  })
}
