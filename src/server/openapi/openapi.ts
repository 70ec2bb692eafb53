/** Generates the OpenAPI 3.1 document from the validation schemas. */
import { type Examples, examplesOf } from '../../core/operation/examples.ts'
import type { HttpOperation, SocketOperation } from '../../core/operation/operation.ts'
import { pathFields, plainTemplate, route, routesOf } from '../../core/operation/route.ts'
import { version } from '../../core/version.ts'
import { operations, sockets, streams, transfers } from '../../operations/index.ts'
import { bytesOf, errorSchema, headers, isPublic, type Responses, responses, takesJson } from './responses.ts'
import { type Json, schemaOf } from './schemas.ts'
import { describeTags, tagOf } from './tags.ts'

const all: Readonly<Record<string, HttpOperation>> = { ...operations, ...streams, ...transfers }

export function makeOpenapi(): Json {
  const components: Json = {}
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {}
  const tags = new Set<string>()
  for (const [name, operation] of Object.entries(all)) {
    for (const [at, http] of routesOf(operation).entries()) {
      // The same URL with a trailing slash, which some clients use.
      if (http.endsWith('/')) continue
      const { method, path } = route(http)
      const atPath = (paths[plainTemplate(path)] ??= {})
      const described = describe(name, at, { ...operation, http }, components)
      tags.add(tagOf({ ...operation, http }))
      const existing = (atPath[method.toLowerCase()] ??= described)
      if (existing !== described) addContent(existing.responses, described.responses)
    }
  }
  schemaOf(errorSchema, 'output', components)
  return {
    openapi: '3.1.0',
    info: { title: 'bax', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: describeTags(tags),
    paths,
    'x-websockets': Object.values<SocketOperation>(sockets).map(describeSocket),
    components: {
      schemas: components,
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

const description = [
  'Browser sessions, extraction, relay and shell behind one API.',
  'Every response has `x-request-id` and `x-bax-version`; every error has the shape of `Error`, with the same request ID.',
  'Failures of the target (the page, the site, the command in the container) are a 200 with `success: false` in the body.',
  'Unknown fields are ignored and named in `warning`; `Prefer: handling=strict` makes them a 400. Field names may be camelCase.',
  'Streams are server-sent events without `event:` lines, or one JSON object a line with `Accept: application/x-ndjson`; `Last-Event-ID` resumes them.',
  'Websockets are listed in `x-websockets`.',
].join('\n\n')

/** Adds the responses of a second operation at the same URL, such as the stream of one that can also be read. */
function addContent(existing: Responses, other: Responses): void {
  for (const [status, { content, ...rest }] of Object.entries(other)) {
    const response = (existing[status] ??= rest)
    const merged = { ...content, ...response.content }
    if (Object.keys(merged).length > 0) response.content = merged
  }
}

/** Returns a unique operation ID for a further URL: `searchAlias`, `searchAlias2`. */
export const aliasId = (name: string, at: number): string => `${name}Alias${at > 1 ? at : ''}`

function describe(name: string, at: number, operation: HttpOperation, components: Json) {
  const { path } = route(operation.http)
  const inPath = new Set(pathFields(path))
  const input = schemaOf(operation.input, 'input', components) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const hasBody = takesJson(operation)
  const sample: Json = operation.sample ?? {}
  const properties = Object.entries(input.properties ?? {})
  const required = new Set(input.required)
  const parameters = [
    ...properties
      .filter(([field]) => inPath.has(field) || !hasBody)
      .map(([field, schema]) => ({
        name: field,
        in: inPath.has(field) ? 'path' : 'query',
        required: inPath.has(field) || required.has(field),
        ...(schema['description'] !== undefined && { description: schema['description'] }),
        schema,
        ...(sample[field] !== undefined && { example: sample[field] }),
      })),
    ...headerParameters(operation),
  ]
  const body = properties.filter(([field]) => hasBody && !inPath.has(field))
  return {
    operationId: at === 0 ? name : aliasId(name, at),
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [tagOf(operation)],
    ...(isPublic(operation) ? { security: [] } : { 'x-scopes': [operation.scope].flat() }),
    ...(operation.example && { 'x-codeSamples': codeSamples(operation.example) }),
    ...(parameters.length > 0 && { parameters }),
    ...('receive' in operation && { requestBody: { required: true, content: bytesOf('application/octet-stream') } }),
    ...(body.length > 0 && { requestBody: jsonBody(body, required, sample) }),
    responses: responses(operation, components),
  }
}

const codeSamples = (examples: Examples) =>
  examplesOf(examples).map((source) => ({ lang: 'Shell', label: 'bax', source }))

function jsonBody(fields: readonly [string, Json][], required: ReadonlySet<string>, sample: Json): Json {
  const names = fields.map(([field]) => field)
  const needed = names.filter((field) => required.has(field))
  const example = Object.fromEntries(Object.entries(sample).filter(([field]) => names.includes(field)))
  return {
    required: needed.length > 0,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(fields),
          ...(needed.length > 0 && { required: needed }),
        },
        ...(Object.keys(example).length > 0 && { example }),
      },
    },
  }
}

/** Returns the request headers that the operation supports. */
function headerParameters(operation: HttpOperation): Json[] {
  const text = (name: string, what: string) => ({ name, in: 'header', description: what, schema: { type: 'string' } })
  if ('idempotent' in operation && operation.idempotent)
    return [text('Idempotency-Key', 'A repeated key and body within 24 hours gets the first response again')]
  if ('frame' in operation) return [text('Last-Event-ID', 'Number of the last frame received')]
  if ('open' in operation)
    return [text('Range', 'Part of the bytes, e.g. bytes=0-1023'), text('If-None-Match', 'ETag of the cached content')]
  return []
}

/** Describes a websocket, for which OpenAPI has no notation. */
function describeSocket({ http, summary, description: more, protocol, input, errors = [] }: SocketOperation): Json {
  const { path } = route(http)
  const inPath = new Set(pathFields(path))
  return {
    path,
    summary,
    ...(more && { description: more }),
    ...(protocol && { protocol }),
    query: Object.keys(input.shape).filter((field) => !inPath.has(field)),
    errors: ['bad_host', 'bad_origin', 'route_not_found', ...errors],
  }
}
