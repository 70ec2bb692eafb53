/** Malformed requests: random ones, and ones derived from the schemas of operations. */
import fc from 'fast-check'
import { z } from 'zod'
import { pathFields, route, routesOf } from '../../src/core/operation/route.ts'
import { operations, sockets, streams, transfers } from '../../src/operations/index.ts'

export interface FuzzedRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

type Schema = Record<string, never>

const nastyText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    '\u202e',
    '../../../etc/passwd',
    '..',
    '.',
    '/',
    '//',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'NaN',
    '1e999',
    '-0',
    'http://',
    'https://[::1',
    'http://user:pass@host:99999/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    '%',
    '%00',
    '%2e%2e%2f',
    '(a+)+$',
    '[',
    '*'.repeat(200),
    'x'.repeat(70_000),
    '\u{1f600}'.repeat(50),
    '2026-01-01T00:00:00.000Z',
    '5f0c8a4e-3b52-4d1b-9c7a-2f6e1d0b8a93',
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

const nastyNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 0.5, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 1, 5e-324),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

const nastyName = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toJSON',
  'then',
  '',
  'sessionId',
  'x',
)

const nesting = fc.integer({ min: 2, max: 3000 }).map((depth) => {
  let value: unknown = 1
  // Deeper values exceed the serializer of the test itself.
  for (let at = 0; at < Math.min(depth, 2000); at++) value = at % 2 ? [value] : { a: value }
  return value
})

const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: nastyText, weight: 3 },
  { arbitrary: nastyNumber, weight: 3 },
  { arbitrary: fc.constantFrom(null, true, false, [], {}), weight: 3 },
  { arbitrary: fc.array(fc.oneof(nastyText, nastyNumber, fc.constant(null)), { maxLength: 5 }), weight: 1 },
  { arbitrary: ownKeys(fc.array(fc.tuple(nastyName, fc.oneof(nastyText, nastyNumber)), { maxLength: 4 })), weight: 1 },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
  { arbitrary: nesting, weight: 1 },
)

/** Creates objects whose `__proto__` is an own field, like parsers do. */
function ownKeys(entries: fc.Arbitrary<[string, unknown][]>): fc.Arbitrary<Record<string, unknown>> {
  return entries.map((pairs) => Object.fromEntries(pairs))
}

/** Mostly valid values of the schema, sometimes others. */
function near(schema: Schema, definitions: Record<string, Schema>, depth = 0): fc.Arbitrary<unknown> {
  const valid = depth > 6 ? fc.constant(null) : fitting(schema, definitions, depth)
  return fc.oneof({ arbitrary: valid, weight: 12 }, { arbitrary: anyValue, weight: 1 })
}

function fitting(schema: Schema, definitions: Record<string, Schema>, depth: number): fc.Arbitrary<unknown> {
  const { $ref, type, items, properties, required = [], additionalProperties } = schema as Record<string, never>
  if ($ref) return near(definitions[String($ref).split('/').at(-1)!]!, definitions, depth + 1)
  if ('const' in schema) return fc.constant(schema['const'])
  if ('enum' in schema) return fc.constantFrom(...(schema['enum'] as unknown[]))
  const options = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Schema[] | undefined
  if (options) return fc.oneof(...options.map((option) => near(option, definitions, depth + 1)))
  if (type === 'string') return nastyText
  if (type === 'integer' || type === 'number') {
    const { minimum = 0, maximum = 1000 } = schema as { minimum?: number; maximum?: number }
    const least = Math.ceil(Math.max(minimum, -1e9))
    const whole = fc.integer({ min: least, max: Math.max(least, Math.floor(Math.min(maximum, 1e9))) })
    return fc.oneof(whole, nastyNumber)
  }
  if (type === 'boolean') return fc.boolean()
  if (type === 'array') return fc.array(items ? near(items, definitions, depth + 1) : anyValue, { maxLength: 4 })
  if (type !== 'object') return anyValue
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, inner]) => {
    const value = near(inner, definitions, depth + 1)
    const needed = (required as string[]).includes(name)
    return fc.option(fc.tuple(fc.constant(name), value), { nil: undefined, freq: needed ? 12 : 1 })
  })
  const extra =
    additionalProperties && typeof additionalProperties === 'object'
      ? near(additionalProperties, definitions, depth + 1)
      : anyValue
  const junk = fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 4 },
    { arbitrary: fc.tuple(nastyName, extra), weight: 1 },
  )
  return fc.tuple(...fields, junk).map((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== undefined)))
}

/** Percent-encodes a text; lone surrogates cannot be encoded. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'))

const nastySegment = fc.oneof(
  fc.constantFrom(
    '%2e%2e',
    '%2E%2e%2F',
    '..',
    '.',
    '%00',
    '%',
    '%zz',
    '%c3%28',
    '%ed%a0%80',
    '%5c..%5c',
    '__proto__',
    'constructor',
    ';',
    '%20',
    '+',
    'a'.repeat(3000),
    '%2f%2f',
    '*',
    ':id',
    '{id}',
    '%F0%9F%98%80',
    'null',
    '-1',
  ),
  nastyText.map((text) => encoded(text.slice(0, 2000))),
)

/** Returns paths of the template, with invalid or plausible values in its fields. */
const pathOf = (template: string, sample: Record<string, unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...pathFields(template).map((name) =>
        fc.oneof(nastySegment, fc.constant(encodeURIComponent(String(sample[name] ?? name)))),
      ),
    )
    .map((values) => {
      let at = 0
      return template.replaceAll(/\{\w+\*?\}/g, () => values[at++]!)
    })

const query = fc.oneof(
  { arbitrary: fc.constant(''), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      '?',
      '?&&=',
      '?a',
      '?%',
      '?%zz=%zz',
      '?__proto__=1&constructor=2',
      '?session_id=a&session_id=b',
      '?limit=1e999',
      '?since=-1',
    ),
    weight: 1,
  },
)

const queryOf = (input: unknown): string => {
  const entries = Object.entries((input ?? {}) as object).map(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return `${encoded(name)}=${encoded(text.slice(0, 3000))}`
  })
  return entries.length > 0 ? `?${entries.join('&')}` : ''
}

const header = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  { prefer: 'handling=strict' },
  { prefer: 'respond-async, handling=strict, wait=1e9' },
  { accept: 'text/event-stream' },
  { accept: 'application/x-ndjson' },
  { accept: '*/*;q=x' },
  { 'last-event-id': '-1' },
  { 'last-event-id': '9'.repeat(400) },
  { range: 'bytes=0-' },
  { range: `bytes=${'9'.repeat(300)}-1` },
  { 'if-none-match': '*' },
  { 'idempotency-key': 'same' },
  { 'idempotency-key': 'k'.repeat(300) },
  { authorization: 'Bearer' },
  { authorization: 'Bearer x', 'x-api-key': 'y' },
  { 'x-request-id': '\u00e9"<>' },
  { cookie: 'a=b; __proto__=c' },
  { 'content-encoding': 'gzip' },
  { 'x-forwarded-host': 'evil.test' },
)

const contentType = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 12 },
  {
    arbitrary: fc.constantFrom(
      '',
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'application/x+json',
      '\u00ff',
    ),
    weight: 1,
  },
)

const rawBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  nastyText,
  fc.constantFrom(
    'null',
    '[]',
    '1',
    '"x"',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{',
    '\ufeff{}',
    '['.repeat(100_000),
    '{"a":'.repeat(50_000),
  ),
)

/** Serializes a value; lone surrogates are kept. */
const written = (value: unknown): string => JSON.stringify(value) ?? 'null'

function requestsTo(http: string, { input, sample: given }: Addressed): fc.Arbitrary<FuzzedRequest> {
  const { method, path } = route(http)
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as unknown as Schema
  const sample: Record<string, unknown> = { ...given }
  const changed = near(schema, (schema['$defs'] ?? {}) as Record<string, Schema>)
  const fields = fc.oneof(
    changed,
    changed.map((some) => (isRecord(some) ? { ...sample, ...some } : some)),
  )
  const hasBody = method === 'POST' || method === 'PUT'
  const body = fc.oneof({ arbitrary: fields.map(written), weight: 6 }, { arbitrary: rawBody, weight: 1 })
  return fc
    .record({ path: pathOf(path, sample), query, fields, headers: header, type: contentType, body })
    .map((made) => ({
      method,
      target: made.path + (hasBody ? made.query : made.query || queryOf(made.fields)),
      headers: { ...made.headers, ...(hasBody && made.type && { 'content-type': made.type }) },
      ...(hasBody && { body: made.body }),
    }))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const anywhere: fc.Arbitrary<FuzzedRequest> = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'),
  target: fc
    .tuple(
      fc.array(fc.oneof(nastySegment, fc.constantFrom('v1', 'sessions', 'shell', 'fs', 'openapi.json', 'json', 'v2'))),
      query,
    )
    .map(([segments, search]) => `/${segments.join('/')}${search}`),
  headers: header,
})

interface Addressed {
  readonly http: string
  readonly aliases?: readonly string[]
  readonly input: z.ZodType
  readonly sample?: object
}

/** One request to any route, known or unknown. */
export const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  { arbitrary: anywhere, weight: 4 },
  ...Object.values<Addressed>({ ...operations, ...streams, ...transfers }).flatMap((operation) =>
    routesOf(operation).map((http) => ({ arbitrary: requestsTo(http, operation), weight: 1 })),
  ),
)

/** Websocket upgrades, to known paths and others. */
export const fuzzedUpgrade: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...Object.values<Addressed>(sockets).map(({ http }) =>
    fc
      .record({
        path: pathOf(route(http).path, {}),
        query,
        headers: header,
        protocol: fc.constantFrom('', 'bax.relay.v1', 'bax.bearer.x', ', ,', 'a'.repeat(500)),
      })
      .map(({ path, query: search, headers, protocol }) => ({
        method: 'GET',
        target: path + search,
        headers: { ...headers, ...(protocol && { 'sec-websocket-protocol': protocol }) },
      })),
  ),
  anywhere.map((request) => ({ ...request, method: 'GET' })),
)
