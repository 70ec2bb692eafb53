/** Headers of forwarded requests and of their responses. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { keyPrefix } from '../../core/access/keys.ts'
import { answerHeader, contentHeader, forwardedHeader } from '../access/signed-caller.ts'

/** Headers that only concern one connection. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers of requests that the gateway has handled itself. */
const handled = new Set(['expect', 'idempotency-key', 'content-length', forwardedHeader])

/** Headers of responses that the gateway sets itself. */
const ownInResponses = new Set(['date', 'x-request-id', 'x-bax-version', answerHeader, contentHeader])

type Fields = Record<string, string | string[]>

/** Returns the headers to send to a worker: without keys, which the signature replaces, but with tokens. */
export function forwardedHeaders(headers: IncomingHttpHeaders | Headers): Fields {
  const all: Iterable<[string, string | string[] | undefined]> =
    headers instanceof Headers ? headers : Object.entries(headers)
  const named = connectionNames(headers instanceof Headers ? headers.get('connection') : headers.connection)
  const kept: Fields = {}
  for (const [name, value] of all) {
    if (value === undefined || hopByHop.has(name) || handled.has(name) || named.has(name)) continue
    if (name === 'x-api-key' && isKey(String(value))) continue
    if (name === 'authorization' && isKey(String(value).replace(/^bearer +/i, ''))) continue
    kept[name] = value
  }
  return kept
}

/** Adds the headers of an upgrade, without a key among the subprotocols. */
export function upgradeHeaders(headers: IncomingHttpHeaders): Fields {
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  const kept = protocols.filter((name) => name !== '' && !isKey(name.replace(/^bax\.bearer\./, '')))
  const { 'sec-websocket-protocol': _, ...others } = forwardedHeaders(headers)
  return {
    ...others,
    connection: 'Upgrade',
    upgrade: 'websocket',
    ...(kept.length > 0 && { 'sec-websocket-protocol': kept.join(', ') }),
  }
}

/** Returns the headers of a worker's response that the client gets. */
export function responseHeaders({ headers }: IncomingMessage): Fields {
  const named = connectionNames(headers.connection)
  const kept: Fields = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !ownInResponses.has(name) && !named.has(name)) kept[name] = value
  }
  return kept
}

/** Returns outgoing headers by name, as the worker will read them. */
export const readable = (headers: OutgoingHttpHeaders): Pick<Headers, 'get'> => ({
  get: (name) => {
    const value = headers[name]
    return value === undefined ? null : [value].flat().join(', ')
  },
})

const connectionNames = (connection: string | null | undefined): ReadonlySet<string> =>
  new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))

const isKey = (text: string): boolean => text.trim().startsWith(keyPrefix)
