/** Compares every response of a server, errors included, with its `openapi.json`. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { makeOpenapi } from '../../src/server/openapi/openapi.ts'

type Json = Record<string, unknown>
type Fetch = (request: Request, env?: unknown) => Response | Promise<Response>

const opened = makeOpenapi() as {
  paths: Record<string, Record<string, { responses: DescribedOperation['responses'] }>>
}

/**
 * The description with closed objects: an undocumented field is an error of ours here, although clients are told to ignore
 * such fields.
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
const validators = new Map<string, ValidateFunction>()

const templates = Object.keys(closed.paths).map((path) => {
  const source = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
  const fields = (text: string) => text.replaceAll(/\{\w+\}/g, '[^/]+')
  return {
    path,
    pattern: new RegExp(`^${fields(source)}$`),
    rest: new RegExp(`^${fields(source.replace(/\{file_name\}$/, '.+'))}$`),
  }
})

type Content = Record<string, { schema: Json }>

interface DescribedOperation {
  /** Path in the document, as JSON pointer segments. */
  readonly at: readonly string[]
  readonly responses: Record<string, { content?: Content }>
}

function operationAt(method: string, pathname: string): DescribedOperation | undefined {
  const found = templates.filter(({ pattern }) => pattern.test(pathname)).map(({ path }) => path)
  // A template without fields takes precedence over others; the last field of a download matches the rest of the path.
  const path =
    found.find((one) => !one.includes('{')) ?? found[0] ?? templates.find(({ rest }) => rest.test(pathname))?.path
  const operation = path === undefined ? undefined : closed.paths[path]![method.toLowerCase()]
  return operation && path !== undefined
    ? { at: ['paths', path, method.toLowerCase()], responses: operation.responses }
    : undefined
}

function validatorAt(path: readonly string[]): ValidateFunction {
  const escaped = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
  const pointer = `api#/${escaped.join('/')}`
  const known = validators.get(pointer) ?? ajv.getSchema(pointer)!
  validators.set(pointer, known)
  return known
}

export interface CheckedApp {
  readonly fetch: Fetch
  /** Throws an Error that lists every response that violates the description. */
  check(): void
}

/** Wraps an application and compares its JSON responses with the description; `check` reports the differences. */
export function withOpenapiCheck(app: { fetch: Fetch }): CheckedApp {
  const violations = new Set<string>()
  return {
    async fetch(request, env) {
      const response = await app.fetch(request, env)
      const mediaType = response.headers.get('content-type')?.split(';')[0]
      const { pathname } = new URL(request.url)
      // Documents of other standards are described there.
      if (request.method === 'HEAD' || mediaType === undefined || pathname.startsWith('/.well-known/')) return response
      const isJson = mediaType === 'application/json'
      // Streams and downloads are passed on unread.
      const text = isJson ? await response.text() : undefined
      const violation = findViolation(request.method, pathname, { status: response.status, mediaType, text })
      if (violation !== undefined) violations.add(violation)
      return isJson ? new Response(text, response) : response
    },
    check() {
      if (violations.size > 0)
        throw new Error(`responses that openapi.json does not allow:\n${[...violations].join('\n')}`)
    },
  }
}

interface Answer {
  readonly status: number
  readonly mediaType: string
  /** Body of a JSON response. */
  readonly text: string | undefined
}

/** Describes how a response violates the OpenAPI document, in one line; undefined if it does not. */
export function findViolation(
  method: string,
  pathname: string,
  { status, mediaType, text }: Answer,
): string | undefined {
  // Unknown routes, and the page of the live view.
  const isPage = pathname.startsWith('/live/') && mediaType === 'text/html'
  if (pathname === '/openapi.json' || isPage || /"code":"(?:route_not_found|method_not_allowed)"/.test(text ?? ''))
    return undefined
  const name = `${method} ${pathname.replaceAll(/\b(\w+)_[\w-]{8,}/g, '$1_…')} ${status} ${mediaType}`
  const operation = operationAt(method, pathname)
  const content = operation?.responses[status]?.content
  if (!operation || !content || !(mediaType in content || '*/*' in content))
    return `${name}: not described: ${text?.slice(0, 300)}`
  if (text === undefined || !(mediaType in content)) return undefined
  const validate = validatorAt([...operation.at, 'responses', String(status), 'content', mediaType, 'schema'])
  if (validate(JSON.parse(text))) return undefined
  const [first] = validate.errors!
  const field = (first!.params as { additionalProperty?: string }).additionalProperty ?? ''
  return `${name}: ${first!.instancePath} ${first!.message} ${field}: ${text.slice(0, 300)}`
}
