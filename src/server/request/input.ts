/** Reads and validates the input of an operation from a request. */
import { BaxError } from '../../core/errors/errors.ts'
import { assertSize } from '../../core/operation/input-size.ts'
import { limits } from '../../core/limits/limits.ts'
import type { z } from 'zod'
import { parseText } from '../../core/operation/params.ts'
import { paramsOf } from '../../core/operation/schema-params.ts'
import { type ParsedInput, validateInput } from '../../core/operation/valid-input.ts'
import { exceededLimit } from '../../core/operation/json-extent.ts'
import type { BodyReservation } from '../access/load.ts'

interface BodyRules {
  readonly maxBytes?: number | undefined
  /** False if the body is not JSON but bytes for the operation. */
  readonly hasJson?: boolean
  /** Reservation for the memory of the body. */
  readonly memory?: BodyReservation
}

/**
 * Merges path, query and body, and validates the result.
 * @throws BaxError `invalid_json`, `unsupported_media_type`, `payload_too_large` or `invalid_request`.
 */
export async function readInput(
  request: Request,
  schema: z.ZodObject,
  path: Record<string, string>,
  { maxBytes = limits.bodyBytes, hasJson = true, memory }: BodyRules = {},
): Promise<ParsedInput> {
  const query = readQuery(new URL(request.url).searchParams, schema)
  const bodiless = !hasJson || request.method === 'GET' || request.method === 'HEAD' || request.method === 'DELETE'
  const body = bodiless ? {} : await readBody(request, maxBytes, memory)
  assertSize(schema, body)
  const strict = request.headers.get('prefer')?.includes('handling=strict') ?? false
  return validateInput(schema, { ...query, ...body, ...path }, strict)
}

function readQuery(search: URLSearchParams, schema: z.ZodObject): Record<string, unknown> {
  // Most requests have no query, and the first look-up of a schema's parameters is slow.
  if (search.size === 0) return {}
  const params = new Map(paramsOf(schema).map((param) => [param.name, param]))
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const param = params.get(name)
      const text = search.getAll(name).join(',')
      return [name, param ? parseText(param, text) : text]
    }),
  )
}

async function readBody(
  request: Request,
  maxBytes: number,
  memory?: BodyReservation,
): Promise<Record<string, unknown>> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readLimited(request, maxBytes, memory)
  if (bytes.length === 0) return {}
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw new BaxError('unsupported_media_type', 'the body must be JSON', {
      hint: 'send the header Content-Type: application/json',
    })
  }
  assertExtent(bytes)
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
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

async function readLimited({ body }: Request, maxBytes: number, memory?: BodyReservation): Promise<Uint8Array> {
  if (!body) return new Uint8Array()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    void reader.cancel()
  }, limits.connection.bodyMs)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (timedOut) throw new BaxError('timeout', 'timed out reading the body')
      if (done) return Buffer.concat(chunks)
      size += value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      memory?.add(value.length)
      chunks.push(value)
    }
  } finally {
    clearTimeout(timer)
    reader.releaseLock()
  }
}

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
