/** Network events of a relay session as an HTTP archive (HAR 1.2). */
import type { RelayEvent } from '../../../core/shapes/relay.ts'
import { version } from '../../../core/version.ts'

interface NameValue {
  readonly name: string
  readonly value: string
}

/** One request with its answer, as far as it is known. */
interface Exchange {
  readonly request: RelayEvent
  response?: RelayEvent
  end?: RelayEvent
}

export interface Har {
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string }
    readonly pages: readonly Record<string, unknown>[]
    readonly entries: readonly Record<string, unknown>[]
  }
}

/** An entry a request, in the order of their beginning; what has no end yet is marked `_incomplete`. */
export function toHar(events: readonly RelayEvent[]): Har {
  const all = exchanges(events)
  return { log: { version: '1.2', creator: { name: 'bax', version }, pages: pagesOf(all), entries: all.map(entryOf) } }
}

function exchanges(events: readonly RelayEvent[]): Exchange[] {
  const all: Exchange[] = []
  const open = new Map<string, Exchange>()
  for (const event of events) {
    if (event.kind !== 'network') continue
    const id = `${event.target_id ?? ''} ${String(event.data['request_id'])}`
    const exchange = open.get(id)
    if (event.type === 'request') {
      const begun: Exchange = { request: event }
      all.push(begun)
      open.set(id, begun)
    } else if (!exchange) continue
    else if (event.type === 'redirect') {
      // The redirect ends this exchange; the request that follows has the same id.
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

/** The tabs that entries refer to, called by the first page that they have loaded. */
function pagesOf(all: readonly Exchange[]): Record<string, unknown>[] {
  const pages = new Map<string, Record<string, unknown>>()
  for (const { request } of all) {
    const { target_id: id, ts, data } = request
    if (id === undefined || pages.has(id)) continue
    pages.set(id, { startedDateTime: new Date(ts).toISOString(), id, title: data['url'], pageTimings: {} })
  }
  return [...pages.values()]
}

function contentOf({ bytes, body }: Readonly<Record<string, unknown>>, mime: unknown): Record<string, unknown> {
  const known = typeof body === 'string'
  return { size: known ? Buffer.byteLength(body) : (bytes ?? 0), mimeType: mime ?? '', ...(known && { text: body }) }
}

function entryOf({ request, response, end }: Exchange): Record<string, unknown> {
  const asked = request.data
  const url = String(asked['url'])
  const answered = response?.data ?? {}
  const time = end ? Math.max(0, end.ts - request.ts) : 0
  const wait = response ? Math.max(0, response.ts - request.ts) : time
  const error = end?.type === 'failed' ? end.data['error'] : undefined
  return {
    ...(request.target_id && { pageref: request.target_id }),
    startedDateTime: new Date(request.ts).toISOString(),
    time,
    request: {
      method: asked['method'],
      url,
      httpVersion: '',
      cookies: [],
      headers: pairs(asked['headers']),
      queryString: queryOf(url),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: answered['status'] ?? 0,
      statusText: '',
      httpVersion: '',
      cookies: [],
      headers: pairs(answered['headers']),
      content: contentOf(end?.data ?? {}, answered['mime']),
      redirectURL: answered['location'] ?? '',
      headersSize: -1,
      bodySize: end?.data['bytes'] ?? -1,
      ...(error !== undefined && { _error: error }),
    },
    cache: {},
    timings: { send: 0, wait, receive: Math.max(0, time - wait) },
    _resourceType: asked['resource'],
    ...(!end && { _incomplete: true }),
  }
}

const pairs = (headers: unknown): NameValue[] =>
  Object.entries((headers ?? {}) as Record<string, string>).map(([name, value]) => ({ name, value }))

function queryOf(url: string): NameValue[] {
  // What a browser has asked for is an address; what was cut for its length may no longer be one.
  if (!URL.canParse(url)) return []
  return [...new URL(url).searchParams].map(([name, value]) => ({ name, value }))
}
