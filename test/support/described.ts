/** Holds every JSON response of a server to what its `openapi.json` says, failures included. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { makeOpenapi } from '../../src/server/openapi.ts'

type Json = Record<string, unknown>
type Fetch = (request: Request) => Response | Promise<Response>

const opened = makeOpenapi() as { paths: Record<string, Record<string, { responses: Record<string, Json> }>> }

/**
 * The description with closed objects: a field that it does not name is a mistake of ours here, though clients are told
 * to ignore such fields.
 */
const closed = JSON.parse(JSON.stringify(opened), (_, value: unknown) =>
  isObjectSchema(value) && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value,
) as typeof opened

function isObjectSchema(value: unknown): value is Json {
  const { type, properties } = (value ?? {}) as { type?: unknown; properties?: unknown }
  return type === 'object' && typeof properties === 'object' && properties !== null
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, allErrors: true }).addSchema(
  closed,
  'api',
)
const validators = new Map<string, ValidateFunction | undefined>()

const templates = Object.keys(closed.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

function validatorFor(method: string, pathname: string, status: number): ValidateFunction | undefined {
  const found = templates.filter(({ pattern }) => pattern.test(pathname)).map(({ path }) => path)
  // A template without fields is more exact than one with some.
  const path = found.find((one) => !one.includes('{')) ?? found[0]
  const operation = path && closed.paths[path]![method.toLowerCase()]
  if (!operation) return undefined
  const at = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema']
  const pointer = `api#/${at.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
  if (!validators.has(pointer)) validators.set(pointer, ajv.getSchema(pointer))
  return validators.get(pointer)
}

export interface Described {
  readonly fetch: Fetch
  /** Throws an Error that lists every response that the description does not allow. */
  check(): void
}

/** An application whose JSON responses are compared with the description; `check` reports what differed. */
export function described(app: { fetch: Fetch }): Described {
  const mistakes = new Set<string>()
  return {
    async fetch(request) {
      const response = await app.fetch(request)
      if (!response.headers.get('content-type')?.startsWith('application/json')) return response
      const text = await response.text()
      const { pathname } = new URL(request.url)
      const mistake = mistakeIn(request.method, pathname, response.status, text)
      if (mistake !== undefined) mistakes.add(mistake)
      return new Response(text, response)
    },
    check() {
      if (mistakes.size > 0) throw new Error(`responses that openapi.json does not allow:\n${[...mistakes].join('\n')}`)
    },
  }
}

function mistakeIn(method: string, pathname: string, status: number, text: string): string | undefined {
  // What every server answers where no operation is.
  if (pathname === '/openapi.json' || /"code":"(?:route_not_found|method_not_allowed)"/.test(text)) return undefined
  const validate = validatorFor(method, pathname, status)
  const name = `${method} ${pathname.replaceAll(/\b(\w+)_[\w-]{8,}/g, '$1_…')} ${status}`
  if (!validate) return `${name}: not described: ${text.slice(0, 200)}`
  if (validate(JSON.parse(text))) return undefined
  const [first] = validate.errors!
  const more = (first!.params as { additionalProperty?: string }).additionalProperty ?? ''
  return `${name}: ${first!.instancePath} ${first!.message} ${more}: ${text.slice(0, 300)}`
}
