/** From a request to the validated input of an operation. */
import { BaxError, type FieldFault, shortened } from '../../core/errors/errors.ts'
import { faultsOf, sentenceOf } from '../../core/errors/input-errors.ts'
import { assertSize } from '../../core/operation/input-size.ts'
import { limits } from '../../core/limits/limits.ts'
import type { z } from 'zod'
import { parseText } from '../../core/operation/params.ts'
import { paramsOf } from '../../core/operation/schema-params.ts'
import { renameAliases, unknownFields } from '../../core/operation/unknown-fields.ts'
import { excessOf } from '../../core/operation/json-extent.ts'
import type { BodyHold } from '../access/load.ts'
import { assertWellFormed } from './unicode.ts'

/** The input, and the unknown fields that were ignored as a sentence. */
export interface ReadInput {
  readonly input: Record<string, unknown>
  readonly warning?: string
}

interface BodyRules {
  /** Largest body that is read. */
  readonly maxBytes?: number | undefined
  /** False where the body is bytes that somebody else reads. */
  readonly hasJson?: boolean
  /** Where the body finds room. */
  readonly room?: BodyHold
}

/**
 * Joins path, query and body, validates, and names what it did not know.
 * @throws BaxError `invalid_json`, `unsupported_media_type`, `payload_too_large` or `invalid_request`.
 */
export async function readInput(
  request: Request,
  schema: z.ZodObject,
  path: Record<string, string>,
  { maxBytes = limits.bodyBytes, hasJson = true, room }: BodyRules = {},
): Promise<ReadInput> {
  const query = readQuery(new URL(request.url).searchParams, schema)
  const bodiless = !hasJson || request.method === 'GET' || request.method === 'HEAD' || request.method === 'DELETE'
  const body = bodiless ? {} : await readBody(request, maxBytes, room)
  assertSize(schema, body)
  const raw = renameAliases(schema, { ...query, ...body, ...path }) as Record<string, unknown>

  const parsed = schema.safeParse(raw)
  const unknown = unknownFields(schema, raw)
  const strict = request.headers.get('prefer')?.includes('handling=strict') ?? false
  const faults = [
    ...(parsed.success ? [] : faultsOf(parsed.error)),
    ...(strict ? unknown.map(({ path: at, hint }) => ({ path: at, message: `is not a known field${hint}` })) : []),
  ].map(readable)
  if (!parsed.success || faults.length > 0) {
    throw new BaxError('invalid_request', listed(faults.map(sentenceOf), '; '), {
      details: faults.slice(0, limits.input.faults),
    })
  }
  if (unknown.length === 0) return { input: parsed.data }
  const names = listed(
    unknown.map(({ path: at, hint }) => shortened(at, limits.input.faultChars) + hint),
    ', ',
  )
  return { input: parsed.data, warning: `ignored unknown ${unknown.length === 1 ? 'field' : 'fields'}: ${names}` }
}

/** Names and values of a stranger may be of any length. */
const readable = ({ path, message }: FieldFault): FieldFault => ({
  path: shortened(path, limits.input.faultChars),
  message: shortened(message, limits.input.faultChars),
})

/** As many as help a reader. */
function listed(texts: readonly string[], separator: string): string {
  const more = texts.length - limits.input.faults
  const shown = more > 0 ? [...texts.slice(0, limits.input.faults), `and ${more} more`] : texts
  return shown.join(separator)
}

function readQuery(search: URLSearchParams, schema: z.ZodObject): Record<string, unknown> {
  // Most calls have none, and what a schema's parameters are takes a while to find out the first time.
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

async function readBody(request: Request, maxBytes: number, room?: BodyHold): Promise<Record<string, unknown>> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readLimited(request, maxBytes, room)
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

/** @throws BaxError `invalid_request` for JSON that would take long to read, or to walk. */
function assertExtent(bytes: Uint8Array): void {
  const { depth, values } = limits.input
  const excess = excessOf(bytes, { depth, values })
  if (!excess) return
  const [sentence, message] = {
    depth: [`the body is nested deeper than ${depth} levels`, `must have at most ${depth} levels`],
    values: [`the body has more than ${values} values`, `must have at most ${values} values`],
  }[excess] as [string, string]
  throw new BaxError('invalid_request', sentence, { details: [{ path: '', message }] })
}

async function readLimited({ body }: Request, maxBytes: number, room?: BodyHold): Promise<Uint8Array> {
  if (!body) return new Uint8Array()
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let late = false
  const timer = setTimeout(() => {
    late = true
    void reader.cancel()
  }, limits.connection.bodyMs)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (late) throw new BaxError('timeout', 'the body did not come in time')
      if (done) return Buffer.concat(chunks)
      size += value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      room?.add(value.length)
      chunks.push(value)
    }
  } finally {
    clearTimeout(timer)
    reader.releaseLock()
  }
}

const tooLarge = (maxBytes: number) =>
  new BaxError('payload_too_large', `the body is larger than ${maxBytes / 1024 / 1024} MiB`)
