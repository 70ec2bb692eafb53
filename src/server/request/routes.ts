/** The routes of the server, derived from the list of operations. */
import type { Access } from '../../core/access/caller.ts'
import type { DownloadOperation, Operation, StreamOperation, UploadOperation } from '../../core/operation/operation.ts'
import { pathMatcher, route, routesOf } from '../../core/operation/route.ts'
import { operations, streams, transfers } from '../../operations/index.ts'

export const operationList: readonly Operation[] = Object.values(operations)
export const streamList: readonly StreamOperation[] = Object.values(streams)
export const transferList: readonly (DownloadOperation | UploadOperation)[] = Object.values(transfers)

/** The OpenAPI document, which is not an operation. */
export const document = { http: 'GET /openapi.json', scope: 'public' } as const satisfies Access & { http: string }

/** The HTML page of the live view, which is public because it contains no secret. */
export const liveView = { http: 'GET /live/{session_id}', scope: 'public', page: true } as const satisfies Access & {
  http: string
}

const names = new Map<object, string>(
  Object.entries({ ...operations, ...streams, ...transfers, openapi: document, liveView }).map(([name, access]) => [access, name]), // prettier-ignore
)

const routes = [...operationList, ...streamList, ...transferList, document, liveView].flatMap((access) =>
  routesOf(access).map((http) => ({ method: route(http).method, match: pathMatcher(route(http).path), access })),
)

/** Returns the access rules of the operations at a URL. */
export const accessesAt = (method: string, path: string): readonly Access[] =>
  routes.filter((one) => one.method === (method === 'HEAD' ? 'GET' : method) && one.match(path)).map(({ access }) => access) // prettier-ignore

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

/** Returns the methods allowed at a URL, none if it is unknown. GET implies HEAD. */
export function methodsAt(path: string): string[] {
  const methods = routes.filter(({ match }) => match(path)).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}
