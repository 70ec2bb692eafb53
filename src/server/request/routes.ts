/** The routes of the server, derived from the list of operations. */
import type { Access } from '../../core/access/caller.ts'
import type {
  DownloadOperation,
  HttpOperation,
  Operation,
  StreamOperation,
  UploadOperation,
} from '../../core/operation/operation.ts'
import { pathMatcher, route, routesOf } from '../../core/operation/route.ts'
import { operations, streams, transfers } from '../../operations/index.ts'

export const operationList: readonly Operation[] = Object.values(operations)
export const streamList: readonly StreamOperation[] = Object.values(streams)
export const transferList: readonly (DownloadOperation | UploadOperation)[] = Object.values(transfers)

/** The OpenAPI document, which is not an operation. */
export const document = { http: 'GET /openapi.json', scope: 'public' } as const satisfies Access & { http: string }

/** The public key of the bot, which sites fetch. */
export const botDirectory = {
  http: 'GET /.well-known/http-message-signatures-directory',
  scope: 'public',
} as const satisfies Access & { http: string }

/** The HTML page of the live view, which is public because it contains no secret. */
export const liveView = { http: 'GET /live/{session_id}', scope: 'public', page: true } as const satisfies Access & {
  http: string
}

/** Streamable HTTP, which is no operation: its messages call operations. One scope is enough; tools need their own. */
export const mcpRoute = {
  http: 'POST /mcp',
  aliases: ['GET /mcp', 'DELETE /mcp'],
  scope: ['browser', 'scrape', 'shell', 'relay'],
  // Its GET is a stream, which a shutdown does not wait for; the operations that it calls reject new work themselves.
  frame: null,
  allowedWhileDraining: true,
} as const satisfies Access & Record<string, unknown>

const names = new Map<object, string>(
  Object.entries({
    ...operations,
    ...streams,
    ...transfers,
    openapi: document,
    botDirectory,
    liveView,
    mcp: mcpRoute,
  }).map(([name, access]) => [access, name]),
)

interface AccessRoute {
  readonly method: string
  match(path: string): object | undefined
  readonly access: Access
}

/** Routes by the first part of their path, which is never a field. */
const routes = new Map<string, AccessRoute[]>()
for (const access of [...operationList, ...streamList, ...transferList, document, botDirectory, liveView, mcpRoute]) {
  for (const { method, path } of routesOf(access).map((http) => route(http))) {
    const first = firstPart(path)
    routes.set(first, [...(routes.get(first) ?? []), { method, match: pathMatcher(path), access }])
  }
}

/** Returns the routes that match a path. */
const routesAt = (path: string): readonly AccessRoute[] =>
  (routes.get(firstPart(path)) ?? []).filter(({ match }) => match(path))

function firstPart(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}

/** Returns the only operation at a URL, and the fields in the path. */
export function operationAt(method: string, path: string) {
  const [found, ...others] = routesAt(path).filter((one) => one.method === method)
  const operation = operationList.find((one) => one === found?.access)
  if (!operation || others.length > 0) return undefined
  return { operation, fields: found!.match(path) as Record<string, string> }
}

/** Returns the access rules of the operations at a URL. */
export function accessesAt(method: string, path: string): readonly Access[] {
  const called = method === 'HEAD' ? 'GET' : method
  return routesAt(path)
    .filter((one) => one.method === called)
    .map(({ access }) => access)
}

/** Returns the name of the operation at a URL, as in the OpenAPI document. */
export function nameAt(method: string, path: string): string | undefined {
  const [access] = accessesAt(method, path)
  return access && names.get(access)
}

/**
 * Classifies a request for a server that is shutting down: `stream` stays open until the engine closes it, `existing`
 * reads or ends existing work, `new` would start work.
 */
export function kindAt(method: string, path: string): 'stream' | 'existing' | 'new' {
  const accesses = accessesAt(method, path)
  if (method === 'GET' && accesses.some((one) => 'frame' in one)) return 'stream'
  const begins = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE'
  return begins && !accesses.some((one) => 'allowedWhileDraining' in one) ? 'new' : 'existing'
}

/** Returns whether a gateway gives the requests of a URL to any worker. */
export const runsAnywhere = (method: string, path: string): boolean =>
  accessesAt(method, path).some((one) => 'runs' in one && (one as HttpOperation).runs.on === 'any')

/** Returns the methods allowed at a URL, none if it is unknown. GET implies HEAD. */
export function methodsAt(path: string): string[] {
  const methods = routesAt(path).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}
