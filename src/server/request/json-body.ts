/** Bodies of requests, mostly JSON, within limits of size, time and memory. */
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { exceededLimit } from '../../core/operation/json-extent.ts'
import type { BodyReservation } from '../access/load.ts'
import type { SignedBody } from '../access/signed-body.ts'

export interface BodyRules {
  readonly maxBytes: number
  /** Node's request object, whose body is read without a web stream; undefined for calls within the process. */
  readonly incoming?: IncomingMessage | undefined
  /** Reservation for the memory of the body. */
  readonly memory?: BodyReservation | undefined
  /** Verifies the body on a worker. */
  readonly signed?: SignedBody | undefined
  /** Ends the wait for the body, except within the process, where bodies are complete. */
  readonly signal?: AbortSignal
  /** Called with the bytes of the body. */
  readonly onBody?: ((bytes: Uint8Array) => void) | undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a whole body.
 * @throws BaxError `payload_too_large`, `timeout`, and those of `BodyReservation.add`; the reason of the signal
 */
export async function readBody(
  request: Request,
  { maxBytes, incoming, memory, signed, signal }: BodyRules,
): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const limited = new LimitedBody(maxBytes, memory)
  const bytes = await (isUnread(incoming) ? readIncoming(incoming, limited, signal) : readStream(request, limited))
  signed?.update(bytes)
  signed?.assertComplete(incoming)
  return bytes
}

/** Returns whether Node's request has its body; otherwise the web stream may still have it. */
export const isUnread = (incoming: IncomingMessage | undefined): incoming is IncomingMessage =>
  incoming !== undefined && !incoming.destroyed && !incoming.readableDidRead

/** Reads the object in the body, which is empty without a body. @throws BaxError */
export async function readJsonBody(request: Request, rules: BodyRules): Promise<Record<string, unknown>> {
  const bytes = await readBody(request, rules)
  rules.onBody?.(bytes)
  const type = request.headers.get('content-type') ?? ''
  if (bytes.length > 0 && !/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw new BaxError('unsupported_media_type', 'the body must be JSON', {
      hint: 'send the header Content-Type: application/json',
    })
  }
  return parseJsonBody(bytes)
}

/** Parses the object in a body. @throws BaxError `invalid_json`, `invalid_request` */
function parseJsonBody(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) return {}
  assertExtent(bytes)
  let text: string
  let value: unknown
  try {
    text = decoder.decode(bytes)
    value = JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_json', `the body is not JSON: ${(error as Error).message}`)
  }
  assertWellFormed(text, value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BaxError('invalid_request', 'the body must be a JSON object', {
      details: [{ path: '', message: 'expected an object' }],
    })
  }
  return value as Record<string, unknown>
}

/** Reads the object in the text of a body within the process. @throws BaxError as `readJsonBody` does */
export function parseJsonText(text: string, maxBytes: number): Record<string, unknown> {
  const bytes = Buffer.from(text)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return parseJsonBody(bytes)
}

/** @throws BaxError `invalid_request` for JSON that would take long to parse or traverse. */
function assertExtent(bytes: Uint8Array): void {
  const { depth, values } = limits.input
  const excess = exceededLimit(bytes, { depth, values })
  if (!excess) return
  const [sentence, message] = {
    depth: [`the body is nested deeper than ${depth} levels`, `must have at most ${depth} levels`],
    values: [`the body has more than ${values} values`, `must have at most ${values} values`],
  }[excess] as [string, string]
  throw new BaxError('invalid_request', sentence, { details: [{ path: '', message }] })
}

/** Chunks of a body, counted against the limits. */
class LimitedBody {
  readonly #chunks: Uint8Array[] = []
  readonly #maxBytes: number
  readonly #memory: BodyReservation | undefined
  #size = 0

  constructor(maxBytes: number, memory: BodyReservation | undefined) {
    this.#maxBytes = maxBytes
    this.#memory = memory
  }

  /** @throws BaxError `payload_too_large`, and those of `BodyReservation.add` */
  add(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) throw tooLarge(this.#maxBytes)
    this.#memory?.add(chunk.length)
    this.#chunks.push(chunk)
  }

  bytes(): Uint8Array {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }
}

/** Reads the body of Node's request. What remains after an error is paused, and left to the server. */
function readIncoming(incoming: IncomingMessage, limited: LimitedBody, signal?: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      incoming.off('data', add).off('end', end).off('error', fail).off('close', close)
    }
    const fail = (error: unknown) => {
      stop()
      incoming.pause()
      reject(error as Error)
    }
    const add = (chunk: Buffer) => {
      try {
        limited.add(chunk)
      } catch (error) {
        fail(error)
      }
    }
    const end = () => {
      stop()
      resolve(limited.bytes())
    }
    const close = () => fail(new Error('the client disconnected'))
    const abort = () => fail(signal!.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(() => fail(timedOut()), limits.connection.bodyMs)
    incoming.on('data', add).once('end', end).once('error', fail).once('close', close)
  })
}

async function readStream({ body }: Request, limited: LimitedBody): Promise<Uint8Array> {
  if (!body) return limited.bytes()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel()
  }, limits.connection.bodyMs)
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (isLate) throw timedOut()
      if (done) return limited.bytes()
      limited.add(value)
    }
  } finally {
    clearTimeout(timer)
    reader.releaseLock()
  }
}

const timedOut = () => new BaxError('timeout', 'timed out reading the body')
const tooLarge = (maxBytes: number) =>
  new BaxError('payload_too_large', `the body is larger than ${maxBytes / 1024 / 1024} MiB`)

/** Matches escaped surrogates, also in pairs: JSON in UTF-8 without them has no unpaired ones. */
const escaped = /\\u[dD][89a-fA-F]/

/** Matches unpaired surrogates only: with the `u` flag, a pair is one character. */
const unpaired = /\p{Surrogate}/u

/**
 * Rejects unpaired surrogates: JSON can escape them, but UTF-8, as in files, URLs and headers, cannot encode them.
 * @throws BaxError `invalid_request` that names the first field whose name or value is not well-formed
 */
function assertWellFormed(json: string, value: unknown): void {
  if (!escaped.test(json)) return
  const path = illFormedAt(value, '')
  if (path === undefined) return
  const message = 'must be well-formed Unicode: it contains an unpaired surrogate'
  throw new BaxError('invalid_request', path ? `${path} ${message}` : `the body ${message}`, {
    details: [{ path, message }],
  })
}

/** Returns the path of the first string that is not well-formed. The nesting limit was checked before. */
function illFormedAt(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return unpaired.test(value) ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (unpaired.test(key)) return path
    const name = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key
    const found = illFormedAt(inner, name)
    if (found !== undefined) return found
  }
  return undefined
}
