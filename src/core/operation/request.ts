/** The HTTP request of a call. */
import { BaxError } from '../errors/errors.ts'
import { pathFields, replaceFields, route } from './route.ts'

export interface PlainRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/**
 * Returns the request that calls an operation, given its method and path. `strict` rejects unknown fields instead of
 * ignoring them. @throws BaxError `invalid_request` if a field of the path is missing
 */
export function plainRequest(http: string, input: Record<string, unknown>, strict = false): PlainRequest {
  const { method, path: template } = route(http)
  const inPath = new Set(pathFields(template))
  for (const name of inPath) {
    if (input[name] === undefined || input[name] === '')
      throw new BaxError('invalid_request', `${name} is required`, {
        details: [{ path: name, message: 'is required' }],
      })
  }
  const path = replaceFields(template, (name) => encodeURIComponent(String(input[name])))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.has(name) && value !== undefined)
  const hasBody = method === 'POST' || method === 'PUT'
  const query = hasBody ? '' : new URLSearchParams(rest.map(([name, value]) => [name, String(value)])).toString()
  return {
    method,
    path: query ? `${path}?${query}` : path,
    headers: {
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(strict && { prefer: 'handling=strict' }),
    },
    ...(hasBody && { body: JSON.stringify(Object.fromEntries(rest)) }),
  }
}
