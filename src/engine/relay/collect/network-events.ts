/** Turns requests, responses and WebSocket messages into event records. */
import type { EventDraft } from '../events/buffer.ts'
import { type EventParams, readEvent, type Readers } from '../cdp-types.ts'

type Initiator = EventParams<'Network.requestWillBeSent'>['initiator']
type Frame = EventParams<'Network.webSocketFrameSent'>['response']
type Timing = NonNullable<EventParams<'Network.responseReceived'>['response']['timing']>

/** Tracks the requests of one session: network timestamps are monotonic, and final events lack the URL. */
export class NetworkDrafts {
  /** Offset from network timestamps to Unix time, in milliseconds. */
  #offset: number | undefined
  readonly #urls = new Map<string, string>()
  readonly #texts = new Set<string>()

  /** Returns the records of a network event; none for other events. */
  of(method: string, event: Record<string, unknown>): EventDraft[] {
    const records = readEvent(readers, method, event)
    if (!records) return []
    const { requestId: id, timestamp } = event as { requestId: string; timestamp?: number }
    if (method === 'Network.requestWillBeSent') {
      const { request, wallTime, timestamp } = event as EventParams<typeof method>
      this.#offset = (wallTime - timestamp) * 1000
      this.#urls.set(id, request.url)
    }
    if (method === 'Network.webSocketCreated') this.#urls.set(id, (event as EventParams<typeof method>).url)
    const url = this.#urls.get(id)
    // The offset is unknown until the first request.
    const hasTime = timestamp !== undefined && this.#offset !== undefined
    const ts = hasTime ? timestamp * 1000 + this.#offset! : Date.now()
    if (method === 'Network.responseReceived') {
      const { response } = event as EventParams<typeof method>
      if (textTypes.test(response.mimeType)) this.#texts.add(id)
    }
    if (finalEvents.has(method)) {
      this.#urls.delete(id)
      this.#texts.delete(id)
    }
    return records.map(({ type, data, frameId }) => {
      const record = { request_id: id, ...(url !== undefined && { url }), ...data }
      return { kind: 'network', type, ts, data: record, ...(frameId !== undefined && { frame_id: frameId }) }
    })
  }

  /** Whether the response of a pending request is text. */
  isText(requestId: string): boolean {
    return this.#texts.has(requestId)
  }
}

const textTypes = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|ecmascript|x-www-form-urlencoded)\b)/i

interface NetworkRecord {
  readonly type: string
  readonly data: Record<string, unknown>
  readonly frameId?: string
}

const finalEvents = new Set(['Network.loadingFinished', 'Network.loadingFailed', 'Network.webSocketClosed'])

const readers: Readers<NetworkRecord[]> = {
  'Network.requestWillBeSent': (params) => {
    const { request, type, initiator, redirectResponse: redirect, frameId } = params
    const records: NetworkRecord[] = []
    if (redirect) {
      const { url, status, headers } = redirect
      records.push({ type: 'redirect', data: { url, status, headers, location: request.url }, frameId })
    }
    const { url, method, headers } = request
    const resource = String(type ?? 'other').toLowerCase()
    const data = { method, url, resource, headers, initiator: initiatorOf(initiator) }
    return [...records, { type: 'request', data, frameId }]
  },
  'Network.responseReceived': ({ response, type, frameId }) => {
    const { url, status, headers, mimeType, fromDiskCache, fromServiceWorker, fromPrefetchCache, timing } = response
    const data = {
      url,
      status,
      headers,
      mime: mimeType,
      resource: String(type ?? 'other').toLowerCase(),
      from_cache: Boolean(fromDiskCache || fromPrefetchCache),
      ...(fromServiceWorker && { from_service_worker: true }),
      ...(timing && { timing: timingOf(timing) }),
    }
    return [{ type: 'response', data, frameId }]
  },
  'Network.loadingFinished': ({ encodedDataLength }) => [{ type: 'finished', data: { bytes: encodedDataLength } }],
  'Network.loadingFailed': ({ errorText, canceled, blockedReason }) => [
    {
      type: 'failed',
      data: { error: errorText, canceled: Boolean(canceled), ...(blockedReason && { blocked: blockedReason }) },
    },
  ],
  'Network.webSocketCreated': () => [{ type: 'ws_open', data: {} }],
  'Network.webSocketFrameSent': ({ response }) => [{ type: 'ws_frame', data: frameOf('sent', response) }],
  'Network.webSocketFrameReceived': ({ response }) => [{ type: 'ws_frame', data: frameOf('received', response) }],
  'Network.webSocketClosed': () => [{ type: 'ws_close', data: {} }],
}

function initiatorOf(initiator: Initiator | undefined): Record<string, unknown> | undefined {
  if (!initiator) return undefined
  const top = initiator.stack?.callFrames[0]
  const url = initiator.url ?? top?.url
  const line = initiator.lineNumber ?? top?.lineNumber
  return { type: initiator.type, ...(url && { url }), ...(line !== undefined && { line: line + 1 }) }
}

/** Returns the duration of each phase in milliseconds; omits phases that did not happen. */
function timingOf(timing: Timing): Record<string, number> {
  const phases: Record<string, readonly [keyof Timing, keyof Timing]> = {
    dns: ['dnsStart', 'dnsEnd'],
    connect: ['connectStart', 'connectEnd'],
    tls: ['sslStart', 'sslEnd'],
    send: ['sendStart', 'sendEnd'],
    wait: ['sendEnd', 'receiveHeadersEnd'],
  }
  return Object.fromEntries(
    Object.entries(phases).flatMap(([phase, [from, to]]) => {
      const [start = -1, end = -1] = [timing[from], timing[to]]
      return start < 0 || end < 0 ? [] : [[phase, Math.round((end - start) * 100) / 100]]
    }),
  )
}

function frameOf(direction: 'sent' | 'received', { opcode, payloadData }: Frame): Record<string, unknown> {
  const text = opcode === 1 ? { text: payloadData } : {}
  return { direction, opcode, bytes: Buffer.byteLength(payloadData, opcode === 1 ? 'utf8' : 'base64'), ...text }
}
