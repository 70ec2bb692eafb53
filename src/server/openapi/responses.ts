/** Responses of an operation in the OpenAPI document: statuses with their bodies and headers. */
import { z } from 'zod'
import { type ErrorCode, errorTable } from '../../core/errors/errors.ts'
import type { HttpOperation } from '../../core/operation/operation.ts'
import { unknownCodes } from '../../core/operation/placement.ts'
import { route } from '../../core/operation/route.ts'
import { type Json, nameWarning, schemaOf } from './schemas.ts'

export const errorSchema = z
  .object({
    success: z.literal(false),
    error: z.string().describe('What happened, in one sentence'),
    code: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().describe('The same as error'),
    hint: z.string().optional().describe('What to do next'),
    details: z.unknown().optional(),
    request_id: z.string().optional(),
  })
  .meta({ id: 'Error' })

export const bytesOf = (mediaType: string) => ({ [mediaType]: { schema: { type: 'string', format: 'binary' } } })

export function takesJson(operation: HttpOperation): boolean {
  const { method } = route(operation.http)
  return !('receive' in operation) && (method === 'POST' || method === 'PUT')
}

export type Responses = Record<string, { readonly description: string; content?: Json }>

/** Returns the codes of all errors that an operation declares, and that the server itself can respond with. */
export const declaredCodes = (operation: HttpOperation): ErrorCode[] => [
  ...commonCodes(operation),
  ...(operation.errors ?? []),
]

export function responses(operation: HttpOperation, components: Json): Responses {
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of declaredCodes(operation)) {
    const { status } = errorTable[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  const failures = [...byStatus]
    .filter(([status]) => status !== 200)
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      {
        description: [...codes].join(', '),
        ...(failureHeaders[status] && { headers: referTo(failureHeaders[status]) }),
        content: jsonOf({ $ref: '#/components/schemas/Error' }),
      },
    ])
  return { ...successes(operation, components, byStatus.has(200)), ...Object.fromEntries(failures) }
}

function commonCodes(operation: HttpOperation): ErrorCode[] {
  const body: ErrorCode[] = takesJson(operation) ? ['invalid_json', 'payload_too_large', 'unsupported_media_type'] : []
  const gate: ErrorCode[] = isPublic(operation)
    ? []
    : ['unauthorized', 'forbidden_scope', 'rate_limited', 'no_capacity', 'not_ready']
  const begins =
    /^(POST|PUT)/.test(operation.http) && !('allowedWhileDraining' in operation && operation.allowedWhileDraining)
  return [
    'invalid_request',
    ...body,
    ...gate,
    'bad_host',
    ...(begins ? (['shutting_down'] as const) : []),
    ...('idempotent' in operation && operation.idempotent ? (['conflict'] as const) : []),
    ...(isPublic(operation) ? [] : (['fleet_unavailable', 'internal_error'] as const)),
    ...codesOfPlace(operation.runs),
  ]
}

/** Returns the errors of an operation that needs a worker, or an object of which there may be none. */
export function codesOfPlace(runs: HttpOperation['runs']): ErrorCode[] {
  if (!runs || runs.on === 'gateway') return []
  const kinds = 'kinds' in runs ? runs.kinds : []
  return ['worker_lost', ...kinds.map((kind) => unknownCodes[kind])]
}

export const isPublic = ({ scope }: HttpOperation) => scope === 'public'

export const headers = {
  RateLimitLimit: header('Largest burst of requests', 'RateLimit-Limit', 50),
  RateLimitRemaining: header('Requests left in the current burst', 'RateLimit-Remaining', 49),
  RateLimitReset: header('Seconds until the full burst is available again', 'RateLimit-Reset', 1),
  RetryAfter: header('Seconds to wait before a retry', 'Retry-After', 1),
  WwwAuthenticate: { description: 'Bearer', schema: { type: 'string' }, 'x-name': 'WWW-Authenticate' },
} as const

function header(description: string, name: string, example: number) {
  return { description, schema: { type: 'integer', minimum: 0 }, example, 'x-name': name }
}

const failureHeaders: Record<number, readonly (keyof typeof headers)[]> = {
  401: ['WwwAuthenticate'],
  429: ['RetryAfter', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'],
  503: ['RetryAfter'],
}

const referTo = (names: readonly (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [headers[name]['x-name'], { $ref: `#/components/headers/${name}` }]))

/** Describes the success statuses. With `mayFail`, a 200 can also hold the error of a failed target. */
function successes(operation: HttpOperation, components: Json, mayFail: boolean): Responses {
  if ('mediaType' in operation) {
    const bytes = bytesOf(operation.mediaType)
    return {
      '200': { description: 'The bytes, with ETag and Accept-Ranges', content: bytes },
      '206': { description: 'The requested range', content: bytes },
      '304': { description: 'Not changed since If-None-Match' },
    }
  }
  if ('frame' in operation) {
    const schema = schemaOf(operation.frame, 'output', components)
    const content = { 'text/event-stream': { schema }, 'application/x-ndjson': { schema } }
    return {
      '200': { description: 'Frames, as they are produced', content },
      ...(operation.mayHaveEnded && { '204': { description: 'The stream has ended' } }),
    }
  }
  if (operation.output === null) return { '204': { description: 'Done' } }
  const result = schemaOf(operation.output, 'output', components)
  nameWarning(result, components)
  const schema = mayFail ? { anyOf: [result, { $ref: '#/components/schemas/Error' }] } : result
  const content =
    'text' in operation && operation.text ? { [operation.text]: { schema: { type: 'string' } } } : jsonOf(schema)
  const statuses = ('statuses' in operation && operation.statuses) || [200]
  const describe = (status: number) => (status === 202 ? 'Accepted; poll for the result' : 'The result')
  return Object.fromEntries(statuses.map((status) => [status, { description: describe(status), content }]))
}

const jsonOf = (schema: unknown) => ({ 'application/json': { schema } })
