/** Requests, answers and websockets as records. */
import type { Draft } from './draft.ts'

type Headers = Readonly<Record<string, string>>

interface Answer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly mimeType: string
  readonly fromDiskCache?: boolean
  readonly fromServiceWorker?: boolean
  readonly fromPrefetchCache?: boolean
  readonly timing?: Readonly<Record<string, number>>
}

interface Initiator {
  readonly type: string
  readonly url?: string
  readonly lineNumber?: number
  readonly stack?: { readonly callFrames: readonly { readonly url: string; readonly lineNumber: number }[] }
}

interface WsFrame {
  readonly opcode: number
  readonly payloadData: string
}

/** The fields that are read, of whichever event. */
interface Params {
  readonly requestId: string
  readonly frameId?: string
  readonly type?: string
  readonly url: string
  readonly timestamp?: number
  readonly wallTime: number
  readonly request: { readonly url: string; readonly method: string; readonly headers: Headers }
  readonly redirectResponse?: Answer
  readonly initiator?: Initiator
  readonly response: Answer & WsFrame
  readonly encodedDataLength: number
  readonly errorText: string
  readonly canceled?: boolean
  readonly blockedReason?: string
}

/** Follows the requests of one session: times of the network are monotonic, and ends do not repeat the address. */
export class NetworkDrafts {
  /** Milliseconds to add to the network's clock to get the time of day. */
  #offset: number | undefined
  readonly #urls = new Map<string, string>()
  readonly #texts = new Set<string>()

  /** The records of a network event; none for an event of another kind. */
  of(method: string, event: Record<string, unknown>): Draft[] {
    const reader = readers[method]
    if (!reader) return []
    const params = event as unknown as Params
    const { requestId: id } = params
    if (method === 'Network.requestWillBeSent') this.#begin(params)
    if (method === 'Network.webSocketCreated') this.#urls.set(id, params.url)
    const url = this.#urls.get(id)
    const ts = this.#timeOf(params)
    const drafts = reader(params).map(({ type, data, frameId }) => {
      const record = { request_id: id, ...(url !== undefined && { url }), ...data }
      return { kind: 'network' as const, type, ts, data: record, ...(frameId !== undefined && { frame_id: frameId }) }
    })
    if (method === 'Network.responseReceived' && textual.test(params.response.mimeType)) this.#texts.add(id)
    if (ending.has(method)) {
      this.#urls.delete(id)
      this.#texts.delete(id)
    }
    return drafts
  }

  /** Whether the answer to a request that is under way is text. */
  isText(requestId: string): boolean {
    return this.#texts.has(requestId)
  }

  #begin({ requestId, request, wallTime, timestamp }: Params): void {
    this.#offset = (wallTime - timestamp!) * 1000
    this.#urls.set(requestId, request.url)
  }

  #timeOf({ timestamp }: Params): number {
    // A session that has seen no request yet has no clock to go by.
    if (timestamp === undefined || this.#offset === undefined) return Date.now()
    return timestamp * 1000 + this.#offset
  }
}

const textual = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|ecmascript|x-www-form-urlencoded)\b)/i

interface Part {
  readonly type: string
  readonly data: Record<string, unknown>
  readonly frameId?: string
}

const ending = new Set(['Network.loadingFinished', 'Network.loadingFailed', 'Network.webSocketClosed'])

const readers: Record<string, (params: Params) => Part[]> = {
  'Network.requestWillBeSent': (params) => {
    const { request, type, initiator, redirectResponse: redirect, frameId } = params
    const parts: Part[] = []
    if (redirect) {
      const { url, status, headers } = redirect
      parts.push({ type: 'redirect', data: { url, status, headers, location: request.url }, frameId })
    }
    const { url, method, headers } = request
    const resource = String(type ?? 'other').toLowerCase()
    parts.push({
      type: 'request',
      data: { method, url, resource, headers, initiator: initiatorOf(initiator) },
      frameId,
    })
    return parts
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

/** Milliseconds of each phase; those that did not happen are left out. */
function timingOf(timing: Readonly<Record<string, number>>): Record<string, number> {
  const phases: Record<string, readonly [string, string]> = {
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

function frameOf(direction: 'sent' | 'received', { opcode, payloadData }: WsFrame): Record<string, unknown> {
  const text = opcode === 1 ? { text: payloadData } : {}
  return { direction, opcode, bytes: Buffer.byteLength(payloadData, opcode === 1 ? 'utf8' : 'base64'), ...text }
}
