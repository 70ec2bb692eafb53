/** Requests that an operation makes to this server, as its caller. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Ask } from '../../core/operation/call.ts'
import { plainRequest } from '../../core/operation/request.ts'

/** Headers that identify the caller. */
const names = ['host', 'x-api-key', 'authorization'] as const

/** Returns requests with the credentials of `from`, so that all checks apply to each of them. */
export function asCaller(from: Request, fetch: (request: Request) => Response | Promise<Response>): Ask {
  return async (http, input, signal) => {
    const { method, path, headers, body } = plainRequest(http, input, true)
    const own = names.flatMap((name) => (from.headers.has(name) ? [[name, from.headers.get(name)!] as const] : []))
    const request = new Request(new URL(path, from.url), {
      method,
      headers: { ...headers, ...Object.fromEntries(own) },
      signal,
      ...(body !== undefined && { body }),
    })
    const response = await fetch(request)
    // An aborted request is answered too.
    signal.throwIfAborted()
    const text = await response.text()
    if (response.status === 204) return undefined
    const answer: unknown = JSON.parse(text)
    if (response.status >= 400) throw BaxError.fromBody(answer)
    return answer
  }
}
