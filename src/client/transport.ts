/** Three ways to reach an engine, one interface. The two over a wire use node:http: fetch costs a one-liner 30 ms of start. */
import type * as http from 'node:http'
import { BaxError } from '../core/errors/errors.ts'

export interface WireRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** A body of bytes, sent as they come; not over a quick socket. */
  readonly bytes?: AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

export interface WireResponse {
  readonly status: number
  readonly headers: Headers | http.IncomingHttpHeaders
  /** Reads the whole body. */
  text(): Promise<string>
  /** The body as it comes. */
  stream(): AsyncIterable<Uint8Array>
}

export interface Transport {
  send(request: WireRequest): Promise<WireResponse>
  close(): Promise<void>
}

type Fetch = (request: Request) => Response | Promise<Response>

/** Calls an app in this process; `close` ends what was opened for it. */
export function embedded(fetch: Fetch, close: () => Promise<void> = async () => {}): Transport {
  return {
    async send({ method, path, headers, body, bytes, signal }) {
      const request = new Request(`http://localhost${path}`, {
        method,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
        ...(bytes && { body: bytes as never, duplex: 'half' as const }),
        ...(signal && { signal }),
      })
      const response = await fetch(request)
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
 * The chunks of a body until the signal aborts. The request's own signal cannot be relied on for that: it hears of the
 * caller's through a weak reference, which goes with the request while its answer is still being read.
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

/** HTTP over a unix socket (a named pipe on Windows). */
export const overSocket = (socketPath: string, headers: Record<string, string> = {}): Transport =>
  overNodeHttp({ socketPath, host: 'localhost' }, headers, socketPath)

/** HTTP or HTTPS to a server's base address. */
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
      const node: typeof http =
        target.protocol === 'https:' ? ((await import('node:https')) as never) : await import('node:http')
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
            status: response.statusCode!,
            headers: response.headers,
            text: async () => {
              const chunks: Buffer[] = []
              try {
                for await (const chunk of response) chunks.push(chunk as Buffer)
              } catch (error) {
                throw unreachable(name, error)
              }
              return Buffer.concat(chunks).toString()
            },
            stream: () => response,
          })
        })
        request.on('error', (error) => reject(signal?.aborted ? error : unreachable(name, error)))
        if (!bytes) request.end(body)
        // What fails while the body is sent destroys the request, whose own error is told.
        else void send(bytes, request).catch((error: unknown) => request.destroy(error as Error))
      })
    },
    async close() {},
  }
}

/** Sends a body piece by piece, at the pace of the other side. */
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

/** Errors by which no connection was made. */
const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES',
]) // prettier-ignore

/** The error of a call that did not reach its engine, or lost it. */
export function unreachable(name: string, cause: unknown): BaxError {
  const code = (cause as NodeJS.ErrnoException).code
  const why =
    code === 'ECONNREFUSED' || code === 'ENOENT'
      ? 'nothing answers there'
      : code === 'ECONNRESET'
        ? 'it ended in the middle of the call'
        : (code ?? (cause as Error).message)
  return new BaxError('engine_unreachable', `cannot reach the engine at ${name}: ${why}`, {
    hint: 'is it running? start a server with `bax serve`, or leave --server out to use an engine of your own',
    // Once a connection was made, the request may have been carried out.
    ...(!unsent.has(code ?? '') && { details: { outcome: 'unknown' } }),
    cause,
  })
}
