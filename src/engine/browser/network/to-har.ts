/** Converts network events of a session to an HTTP archive (HAR 1.2). */
import type { RelayEvent } from '../../../core/shapes/relay.ts'
import { version } from '../../../core/version.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Event of a request: `request`, `response`, `redirect`, `finished` or `failed`. */
export type NetworkRecord = Pick<RelayEvent, 'kind' | 'type' | 'ts' | 'target_id' | 'data'>

/** Request with its response, as far as received. */
interface Exchange {
  readonly request: NetworkRecord
  response?: NetworkRecord
  end?: NetworkRecord
}

/** Returns one entry per request, in order of their start; unfinished ones are marked `_incomplete`. */
export function toHar(events: readonly NetworkRecord[]) {
  const all = exchanges(events)
  return { log: { version: '1.2', creator: { name: 'bax', version }, pages: pagesOf(all), entries: all.map(entryOf) } }
}

function exchanges(events: readonly NetworkRecord[]): Exchange[] {
  const all: Exchange[] = []
  const open = new Map<string, Exchange>()
  for (const event of events) {
    if (event.kind !== 'network') continue
    const id = `${event.target_id ?? ''} ${String(event.data['request_id'])}`
    const exchange = open.get(id)
    if (event.type === 'request') {
      const started: Exchange = { request: event }
      all.push(started)
      open.set(id, started)
    } else if (!exchange) continue
    else if (event.type === 'redirect') {
      // A redirect ends this exchange; the next request has the same ID.
      exchange.response = exchange.end = event
      open.delete(id)
    } else if (event.type === 'response') exchange.response = event
    else if (event.type === 'finished' || event.type === 'failed') {
      exchange.end = event
      open.delete(id)
    }
  }
  return all
}

/** Returns the tabs that entries refer to, titled with the first URL that they loaded. */
function pagesOf(all: readonly Exchange[]): Record<string, unknown>[] {
  const pages = new Map<string, Record<string, unknown>>()
  for (const { request } of all) {
    const { target_id: id, ts, data } = request
    if (id === undefined || pages.has(id)) continue
    pages.set(id, { startedDateTime: new Date(ts).toISOString(), id, title: data['url'], pageTimings: {} })
  }
  return [...pages.values()]
}

function contentOf(end: Readonly<Record<string, unknown>>, mime: unknown): Record<string, unknown> {
  const { bytes, body, encoding } = end
  if (typeof body !== 'string') return { size: bytes ?? 0, mimeType: mime ?? '' }
  const size = Buffer.byteLength(body, encoding === 'base64' ? 'base64' : 'utf8')
  return { size, mimeType: mime ?? '', text: body, ...(encoding !== undefined && { encoding }) }
}

/** Returns the body of a request, if it is known. */
function postDataOf({ headers, body, encoding }: Readonly<Record<string, unknown>>): { postData?: unknown } {
  if (typeof body !== 'string') return {}
  const mimeType = (headers as Record<string, string> | undefined)?.['content-type'] ?? ''
  return { postData: { mimeType, text: body, ...(encoding !== undefined && { _encoding: encoding }) } }
}

function entryOf({ request, response, end }: Exchange): Record<string, unknown> {
  const sent = request.data
  const url = String(sent['url'])
  const received = response?.data ?? {}
  const time = end ? Math.max(0, Number(end.data['ended'] ?? end.ts) - request.ts) : 0
  const wait = response ? Math.max(0, response.ts - request.ts) : time
  const error = end?.type === 'failed' ? end.data['error'] : undefined
  return {
    ...(request.target_id && { pageref: request.target_id }),
    startedDateTime: new Date(request.ts).toISOString(),
    time,
    request: {
      method: sent['method'],
      url,
      httpVersion: '',
      cookies: [],
      headers: pairs(sent['headers']),
      queryString: queryOf(url),
      ...postDataOf(sent),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: received['status'] ?? 0,
      statusText: '',
      httpVersion: '',
      cookies: [],
      headers: pairs(received['headers']),
      content: contentOf(end?.data ?? {}, received['mime']),
      redirectURL: received['location'] ?? '',
      headersSize: -1,
      bodySize: end?.data['bytes'] ?? -1,
      ...(error !== undefined && { _error: error }),
    },
    cache: {},
    timings: { send: 0, wait, receive: Math.max(0, time - wait) },
    _resourceType: sent['resource'],
    ...(!end && { _incomplete: true }),
  }
}

const pairs = (headers: unknown) =>
  Object.entries((headers ?? {}) as Record<string, string>).map(([name, value]) => ({ name, value }))

function queryOf(url: string) {
  // A URL that was truncated for its length may be invalid.
  return [...(parseUrl(url)?.searchParams ?? [])].map(([name, value]) => ({ name, value }))
}
