/** Routes such as `GET /sessions/{session_id}`: a method and a path template. A final `{name*}` is the rest of a path. */
import { decodeUrlPart } from '../net/urls.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Route = `${HttpMethod} /${string}`

/** Splits a route into method and path template. */
export function route(http: string): { method: HttpMethod; path: string } {
  const space = http.indexOf(' ')
  return { method: http.slice(0, space) as HttpMethod, path: http.slice(space + 1) }
}

/** Returns all routes of an operation or stream. */
export const routesOf = <R extends string>({ http, aliases = [] }: { http: R; aliases?: readonly R[] }): R[] => [
  http,
  ...aliases,
]

const field = /\{(\w+)(\*?)\}/g

/** Returns the names of the fields of a path template. */
export const pathFields = (template: string): string[] =>
  [...template.matchAll(field)].flatMap(([, name]) => name ?? [])

/** Replaces the fields of a path template; `write` also learns whether a field is the rest of the path. */
export const replaceFields = (template: string, write: (name: string, isRest: boolean) => string): string =>
  template.replaceAll(field, (_, name: string, star: string) => write(name, star !== ''))

/** Returns a path template as documents and clients know it, which do not distinguish the rest of a path. */
export const plainTemplate = (template: string): string => replaceFields(template, (name) => `{${name}}`)

/** Returns a function that matches paths and returns their fields; undefined for any other path. */
export function pathMatcher(template: string): (path: string) => Record<string, string> | undefined {
  const literal = template.replaceAll(/[.+?^$()|[\]\\]/g, String.raw`\$&`)
  const pattern = new RegExp(`^${replaceFields(literal, (name, isRest) => `(?<${name}>${isRest ? '.+' : '[^/]+'})`)}$`)
  const rest = /\{(\w+)\*\}$/.exec(template)?.[1]
  return (path) => {
    const found = pattern.exec(path)
    if (!found) return undefined
    const fields = Object.entries(found.groups ?? {})
    // The rest of a path stays percent-encoded: its bytes may not be UTF-8.
    return Object.fromEntries(fields.map(([name, part]) => [name, name === rest ? part : decodeUrlPart(part)]))
  }
}
