/** Hostile texts, and every place in requests that accepts a text, derived from the declared schemas at any depth. */
import { z } from 'zod'
import { catalogue } from '../../src/commands/index.ts'
import { pathFields, route } from '../../src/core/operation/route.ts'
import { operations, streams, transfers } from '../../src/operations/index.ts'

/** Texts that have escaped from paths, headers, command lines and URLs elsewhere; some lead to a port of this machine. */
export const hostileTexts = (canary: number): readonly string[] => [
  '',
  ' ',
  '.',
  '..',
  '/',
  '//',
  '../../etc',
  '../../../etc/passwd',
  '..%2f..%2f',
  'x%2f..%2f',
  '%2e%2e/',
  '%',
  '%00',
  '%zz',
  `../../127.0.0.1:${canary}/x`,
  `//127.0.0.1:${canary}/`,
  `http://127.0.0.1:${canary}/`,
  `http:\\\\127.0.0.1:${canary}\\`,
  `127.0.0.1:${canary}`,
  `127.0.0.1:${canary}/x:tag`,
  `ws://127.0.0.1:${canary}/`,
  `socks5://127.0.0.1:${canary}`,
  `http://0x7f000001:${canary}/`,
  `http://localhost:${canary}/`,
  `http://[::ffff:127.0.0.1]:${canary}/`,
  `http://user:x@127.0.0.1:${canary}/`,
  `x@127.0.0.1:${canary}`,
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'chrome://version',
  'http://',
  'https://[::1',
  'http://user:pass@host:99999/',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff\ud800',
  'a\nb',
  'a\r\nx-injected: 1',
  `a\r\n\r\nGET http://127.0.0.1:${canary}/ HTTP/1.1\r\n\r\n`,
  '\u202e',
  '\u2028',
  '\x1b[2J\x1b]0;x\x07',
  '\x7f\x9b',
  '\ufeff',
  'e\u0301\u0301',
  '\u{1f600}'.repeat(2500),
  'x'.repeat(10_000),
  '9'.repeat(400),
  '--privileged',
  'x --privileged',
  '-rf',
  '-',
  '--',
  '--proxy-server=x',
  '$(id)',
  '`id`',
  '; id',
  '| id',
  '&& id',
  "' OR 1=1",
  '"',
  '\\',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '1e999',
  '-1',
  'true',
  '[]',
  '{}',
  '{{7*7}}',
  '(a+)+$',
  '[',
  '(?',
  '*'.repeat(200),
  '2026-01-01T00:00:00.000Z',
  '5f0c8a4e-3b52-4d1b-9c7a-2f6e1d0b8a93',
  'sha256:',
  '@',
  ':',
  '~',
  'CON',
  'C:\\x',
  '/dev/zero',
  '/proc/self/mem',
  'ref=e1',
  '>> x',
  'xpath=//',
]

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema
  readonly $defs?: Readonly<Record<string, Schema>>
}

/** A place for a text; `with` returns the value of the whole field with the text in it. */
interface Place {
  readonly name: string
  with(text: string): unknown
}

class Places {
  readonly #definitions: Readonly<Record<string, Schema>>
  readonly #found = new Map<string, Place>()

  private constructor({ $defs }: Schema) {
    this.#definitions = $defs ?? {}
  }

  /** Returns every place in a schema, named like `formats[].prompt`. */
  static of(schema: Schema): Place[] {
    const places = new Places(schema)
    places.#walk(schema, '', (value) => value, 0)
    return [...places.#found.values()]
  }

  #walk(given: Schema, name: string, wrap: (value: unknown) => unknown, depth: number): void {
    const schema = this.#resolved(given)
    if (depth > 8 || schema.enum || 'const' in schema) return
    const options = schema.anyOf ?? schema.oneOf
    if (options) for (const option of options) this.#walk(option, name, wrap, depth + 1)
    const add = (at: string, make: (text: string) => unknown) =>
      this.#found.set(`${at} ${JSON.stringify(make('x'))}`, { name: at, with: make })
    if (schema.type === 'string' || isAny(schema)) add(name, wrap)
    if (schema.type === 'array') this.#walk(schema.items ?? {}, `${name}[]`, (value) => wrap([value]), depth + 1)
    if (schema.type !== 'object') return
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      const path = name ? `${name}.${field}` : field
      this.#walk(
        inner,
        path,
        (value) => wrap({ ...(this.minimal(schema, field) as object), [field]: value }),
        depth + 1,
      )
    }
    const { additionalProperties: others } = schema
    if (typeof others !== 'object') return
    this.#walk(others, `${name}.*`, (value) => wrap({ name: value }), depth + 1)
    add(`${name}.<name>`, (text) => wrap(Object.fromEntries([[text, this.minimal(others)]])))
  }

  /** Returns the smallest valid value, without the required field `chosen`. */
  minimal(given: Schema, chosen?: string): unknown {
    const schema = this.#resolved(given)
    if ('const' in schema) return schema.const
    if (schema.default !== undefined) return schema.default
    if (schema.enum) return schema.enum[0]
    const [option] = schema.anyOf ?? schema.oneOf ?? []
    if (option) return this.minimal(option)
    if (schema.type === 'array') return [this.minimal(schema.items ?? {})]
    if (schema.type === 'object') {
      const fields = (schema.required ?? []).filter((field) => field !== chosen)
      return Object.fromEntries(fields.map((field) => [field, this.minimal(schema.properties![field]!)]))
    }
    if (schema.type === 'integer' || schema.type === 'number') return Math.max(schema.minimum ?? 1, 1)
    return schema.type === 'boolean' ? true : 'x'
  }

  #resolved(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema
    return this.#resolved(this.#definitions[schema.$ref.split('/').at(-1)!]!)
  }
}

const isAny = ({ type, properties, anyOf, oneOf }: Schema): boolean => !type && !properties && !anyOf && !oneOf
const schemaOf = (type: z.ZodType): Schema => z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema

/** A request with one hostile text in it. */
export interface HostileRequest {
  /** Operation and field, such as `createShell image`. */
  readonly place: string
  readonly method: string
  /** Path and query, percent-encoded. */
  readonly target: string
  readonly body?: Record<string, unknown>
}

/** A place in an operation, with the function that returns a request with a text there. */
export interface Target {
  readonly place: string
  request(text: string, known: Known): HostileRequest
}

/** IDs of existing objects by field names, for a browser session and a shell session. */
export interface Known {
  readonly browser: Readonly<Record<string, unknown>>
  readonly shell: Readonly<Record<string, unknown>>
  /** URL of an allowed page. */
  readonly url: string
}

interface Described {
  readonly http: string
  readonly scope: string | readonly string[]
  readonly input: z.ZodObject
  readonly sample?: object
}

/** Fields of which only one may be given. */
const exclusive = [
  ['path', 'path_b64'],
  ['source', 'source_b64'],
  ['destination', 'destination_b64'],
  ['command', 'code', 'argv'],
  ['command', 'commands'],
]
/** Short timeouts for all requests. */
const shortTimeouts: Record<string, unknown> = {
  timeout: 1500,
  timeout_secs: 2,
  timeout_ms: 1500,
  settle_ms: 0,
  limit: 1,
  wait_for: 0,
}

/** Returns every place in every operation, stream and transfer, except browser commands. */
export function operationTargets(): Target[] {
  return Object.entries<Described>({ ...operations, ...streams, ...transfers }).flatMap(([name, operation]) => {
    const ofCommands = name === 'runCommands' || name === 'browserStep'
    return Places.of(schemaOf(operation.input))
      .filter(({ name: place }) => !ofCommands || !/^commands?(\[\])?\.data/.test(place))
      .map((place) => ({
        place: `${name} ${place.name}`,
        request: (text: string, known: Known) => requestOf(name, operation, place, text, known),
      }))
  })
}

function requestOf(
  name: string,
  { http, scope, input, sample: given }: Described,
  place: Place,
  text: string,
  known: Known,
): HostileRequest {
  const [field] = /^\w+/.exec(place.name)!
  const value = (place.with(text) as Record<string, unknown>)[field]
  const sample: Record<string, unknown> = { ...given }
  const ids = scope === 'shell' ? known.shell : known.browser
  for (const at of Object.keys(sample)) if (at in ids) sample[at] = ids[at]
  for (const at of Object.keys(shortTimeouts))
    if (at in input.shape && name !== 'touchShell') sample[at] = shortTimeouts[at]
  if ('session_id' in input.shape && name !== 'saveProfile') sample['session_id'] = ids['session_id']
  if ('url' in sample) sample['url'] = known.url
  for (const group of exclusive) if (group.includes(field)) for (const other of group) delete sample[other]
  const fields = { ...sample, [field]: value }
  return { place: `${name} ${place.name}`, ...placed(http, fields) }
}

/** Divides fields into path, query and body, like clients do. */
function placed(http: string, fields: Record<string, unknown>): Omit<HostileRequest, 'place'> {
  const { method, path } = route(http)
  const inPath = pathFields(path)
  const target = path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => encoded(fields[name]))
  const rest = Object.entries(fields).filter(([name]) => !inPath.includes(name))
  if (method === 'POST') return { method, target, body: Object.fromEntries(rest) }
  const query = rest.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  return { method, target: query ? `${target}?${query}` : target }
}

/** Percent-encodes a value, dots included; lone surrogates cannot be encoded. */
export const encoded = (value: unknown): string =>
  encodeURIComponent(
    (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/\p{Surrogate}/gu, '\ufffd'),
  ).replaceAll(/^\.+$/g, (dots) => '%2e'.repeat(dots.length))

/** Returns every place in every browser command. */
export function commandTargets(): Target[] {
  return [...catalogue].flatMap(([command, { data }]) =>
    Places.of(schemaOf(data)).map((place) => ({
      place: `${command} ${place.name}`,
      request: (text: string, { browser, url }: Known) => {
        const fields: Record<string, unknown> = { ...(place.with(text) as object) }
        if ('timeout_ms' in data.shape) fields['timeout_ms'] = 50
        for (const name of ['selector', 'target_selector']) if (fields[name] === 'x') fields[name] = 'input'
        if (fields['url'] === 'x') fields['url'] = url
        const commands = [{ command, data: fields }]
        const body = { session_id: browser['session_id'], timeout_ms: 3000, commands }
        return { place: `${command} ${place.name}`, method: 'POST', target: '/commands', body }
      },
    })),
  )
}

/** CDP calls that take a URL, a path or a name from the caller. */
const cdpCalls: readonly (readonly [method: string, field: string, more?: Record<string, unknown>])[] = [
  ['Page.navigate', 'url'],
  ['Target.createTarget', 'url', { newWindow: false }],
  ['Target.attachToTarget', 'targetId', { flatten: true }],
  ['Target.closeTarget', 'targetId'],
  ['Target.activateTarget', 'targetId'],
  ['Runtime.evaluate', 'expression', { timeout: 200 }],
  ['Runtime.callFunctionOn', 'objectId', { functionDeclaration: 'function(){}' }],
  ['Page.addScriptToEvaluateOnNewDocument', 'source'],
  ['Page.setDocumentContent', 'html', { frameId: 'x' }],
  ['Page.setDownloadBehavior', 'downloadPath', { behavior: 'allow' }],
  ['Network.setUserAgentOverride', 'userAgent'],
  ['Emulation.setUserAgentOverride', 'acceptLanguage', { userAgent: 'x' }],
  ['Emulation.setLocaleOverride', 'locale'],
  ['Emulation.setTimezoneOverride', 'timezoneId'],
  ['Network.loadNetworkResource', 'url', { options: { disableCache: true, includeCredentials: false } }],
  ['Network.setCookie', 'value', { name: 'x', url: 'http://127.0.0.2/' }],
  ['Input.insertText', 'text'],
  ['IO.read', 'handle'],
  ['DOM.querySelector', 'selector', { nodeId: 1 }],
  ['Browser.getWindowForTarget', 'targetId'],
  ['Storage.getStorageKeyForFrame', 'frameId'],
]

export function cdpTargets(): Target[] {
  return cdpCalls.map(([method, field, more]) => ({
    place: `cdp ${method} ${field}`,
    request: (text: string, { browser }: Known) => ({
      place: `cdp ${method} ${field}`,
      method: 'POST',
      target: '/cdp',
      body: { session_id: browser['session_id'], method, params: { ...more, [field]: text }, timeout_ms: 1500 },
    }),
  }))
}

/** Headers that the server reads. */
export const readHeaders = [
  'x-request-id',
  'idempotency-key',
  'last-event-id',
  'authorization',
  'x-api-key',
  'cookie',
  'prefer',
  'range',
  'if-none-match',
  'accept',
  'content-type',
  'content-encoding',
  'origin',
  'host',
  'sec-websocket-protocol',
  'sec-websocket-key',
  'x-forwarded-for',
  'x-forwarded-host',
  'user-agent',
  'transfer-encoding',
  'expect',
]
