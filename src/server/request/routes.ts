/** The addresses that are answered, by their templates. */
import type { Access } from '../../core/access/caller.ts'
import { type HttpMethod, type Operation, route, routesOf } from '../../core/operation/operation.ts'
import type { StreamOperation } from '../../core/operation/stream.ts'
import type { DownloadOperation, UploadOperation } from '../../core/operation/transfer.ts'
import { operations, streams, transfers } from '../../operations/index.ts'

export const answering = Object.values(operations as unknown as Record<string, Operation>)
export const streaming = Object.values(streams as unknown as Record<string, StreamOperation>)
export const moving = Object.values(transfers as unknown as Record<string, DownloadOperation | UploadOperation>)

/** The description of all others is no operation itself. */
export const document = { http: 'GET /openapi.json', scope: 'public' } as const satisfies Access & { http: string }

/** The page of the live view, which holds no secret of its own. */
export const liveView = { http: 'GET /live/{session_id}', scope: 'public', page: true } as const satisfies Access & {
  http: string
}

/** The lists' own names, by the operation. */
const names = new Map<object, string>(
  Object.entries({ ...operations, ...streams, ...transfers, openapi: document, liveView }).map(([name, one]) => [
    one,
    name,
  ]),
)

interface Route {
  readonly method: HttpMethod
  readonly pattern: RegExp
  readonly access: Access
}

const routes: readonly Route[] = [...answering, ...streaming, ...moving, document, liveView].flatMap((access) =>
  routesOf(access).map((http) => {
    const { method, path } = route(http)
    return { method, pattern: patternOf(path), access }
  }),
)

/** What is asked of the callers of an address. */
export const accessesAt = (method: string, path: string): readonly Access[] =>
  routes.filter((one) => one.method === (method === 'HEAD' ? 'GET' : method) && one.pattern.test(path)).map(({ access }) => access) // prettier-ignore

/** Name of the operation at an address, as the document has it. */
export function nameAt(method: string, path: string): string | undefined {
  const [access] = accessesAt(method, path)
  return access && names.get(access)
}

/**
 * What a request is to a server that is about to end: `watching` goes on until there is nothing to see, `going on` asks
 * about what there is or ends it, `new` would begin something.
 */
export function kindAt(method: string, path: string): 'watching' | 'going on' | 'new' {
  const accesses = accessesAt(method, path)
  if (method === 'GET' && accesses.some((one) => 'frame' in one)) return 'watching'
  const begins = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE'
  return begins && !accesses.some((one) => 'goesOn' in one) ? 'new' : 'going on'
}

/** Methods that an address answers; none for an unknown one. What can be read can be asked for its head alone. */
export function methodsAt(path: string): string[] {
  const methods = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}

function patternOf(template: string): RegExp {
  const pattern = template
    .replaceAll(/\{\w+\*\}/g, '{rest}')
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('{rest}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`)
}
