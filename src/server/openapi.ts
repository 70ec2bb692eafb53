/** The OpenAPI 3.1 document, from the schemas that validate. */
import { z } from 'zod'
import { type ErrorCode, errorTable } from '../core/errors.ts'
import { type Operation, pathFields, route, routesOf } from '../core/operation.ts'
import type { StreamOperation } from '../core/stream.ts'
import type { DownloadOperation, UploadOperation } from '../core/transfer.ts'
import { version } from '../core/version.ts'

/** Codes that every operation can answer. */
const common: readonly ErrorCode[] = ['invalid_request', 'unauthorized', 'bad_host', 'internal_error']

const errorSchema = z
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

type Json = Record<string, unknown>

type Any = Operation | StreamOperation | DownloadOperation | UploadOperation

export function makeOpenapi(
  operations: Record<string, Operation>,
  streams: Record<string, StreamOperation>,
  transfers: Record<string, DownloadOperation | UploadOperation>,
): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries<Any>({ ...operations, ...streams, ...transfers })) {
    for (const [at, http] of routesOf(operation).entries()) {
      const { method, path: template } = route(http)
      const path = template.replaceAll('*}', '}')
      paths[path] ??= {}
      const id = at === 0 ? name : aliasId(name, at)
      const described = describe(id, { ...operation, http } as Any, components)
      const known = paths[path][method.toLowerCase()] as Described | undefined
      if (known) addContent(known, described as Described)
      else paths[path][method.toLowerCase()] = described
    }
  }
  schemaOf(errorSchema, 'output', components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'bax',
      version,
      description: 'Browser sessions, extraction, relay and shell behind one API.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

type Described = { responses: Record<string, { content?: Json }> }

/** What is read and followed at one address is one operation with several types of content. */
function addContent(known: Described, other: Described): void {
  for (const [status, { content }] of Object.entries(other.responses)) {
    known.responses[status] ??= { content: {} }
    known.responses[status].content = { ...content, ...known.responses[status].content }
  }
}

/** `searchAlias`, `searchAlias2`: operation ids are unique in a document. */
export const aliasId = (name: string, at: number): string => `${name}Alias${at > 1 ? at : ''}`

function describe(name: string, operation: Any, components: Json): Json {
  const { method, path } = route(operation.http)
  const inPath = new Set(pathFields(path))
  const input = schemaOf(operation.input, 'input', components) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const properties = Object.entries(input.properties ?? {})
  const rest = properties.filter(([field]) => !inPath.has(field))
  const takesBytes = 'receive' in operation
  const hasBody = !takesBytes && (method === 'POST' || method === 'PUT')
  const parameters = properties
    .filter(([field]) => inPath.has(field) || !hasBody)
    .map(([field, schema]) => ({
      name: field,
      in: inPath.has(field) ? 'path' : 'query',
      required: inPath.has(field) || (input.required?.includes(field) ?? false),
      ...(schema['description'] !== undefined && { description: schema['description'] }),
      schema,
    }))
  const required = (input.required ?? []).filter((field) => !inPath.has(field))
  return {
    operationId: name,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [path.split('/').find((part) => part && part !== 'v1') ?? 'engine'],
    ...(parameters.length > 0 && { parameters }),
    ...(takesBytes && { requestBody: { required: true, content: bytes } }),
    ...(hasBody &&
      rest.length > 0 && {
        requestBody: {
          required: required.length > 0,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: Object.fromEntries(rest),
                ...(required.length > 0 && { required }),
              },
            },
          },
        },
      }),
    responses: responses(operation, components),
  }
}

function responses(operation: Any, components: Json): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...common, ...(operation.errors ?? [])]) {
    const { status } = errorTable[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const failures = [...byStatus]
    .filter(([status]) => status !== 200)
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      { description: codes.join(', '), content: jsonOf({ $ref: '#/components/schemas/Error' }) },
    ])
  return { ...successes(operation, components), ...Object.fromEntries(failures) }
}

/** Bytes that are no JSON. */
const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }

function successes(operation: Any, components: Json): Json {
  if ('open' in operation && !('frame' in operation)) {
    return {
      '200': { description: 'The bytes, with ETag and Accept-Ranges', content: bytes },
      '206': { description: 'The part that Range asks for', content: bytes },
      '304': { description: 'Not changed since If-None-Match' },
    }
  }
  if ('frame' in operation) {
    const schema = schemaOf(operation.frame, 'output', components)
    const content = { 'text/event-stream': { schema }, 'application/x-ndjson': { schema } }
    return {
      '200': { description: 'Frames as they come', content },
      '204': { description: 'Nothing to follow any more' },
    }
  }
  if (operation.output === null) return { '204': { description: 'Done' } }
  const content = jsonOf(schemaOf(operation.output, 'output', components))
  const later = 'status' in operation &&
    operation.status && { '202': { description: 'Accepted; poll for the result', content } }
  return { '200': { description: 'The result', content }, ...later }
}

const jsonOf = (schema: unknown) => ({ 'application/json': { schema } })

/** JSON Schema of a shape; shapes with an id become components and are referred to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json & {
    $defs?: Record<string, Json>
    id?: string
  }
  const { $schema: _, $defs, ...body } = json
  const collect = (id: string, definition: Json) => {
    const { id: _id, ...rest } = definition
    components[id] ??= rewrite(rest)
  }
  for (const [id, definition] of Object.entries($defs ?? {})) collect(id, definition)
  if (typeof body.id === 'string') {
    collect(body.id, body)
    return { $ref: `#/components/schemas/${body.id}` }
  }
  return rewrite(body)
}

/** Points references at the components and drops our own annotations. */
function rewrite(json: Json): Json {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    return key === 'spelling' || key === 'aliases' ? undefined : value
  }) as Json
}
