/** Collects events of the user's tabs next to the browser, and removes secrets from them (`spec: relay 6`). */
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RelayEventKind } from '../../../core/shapes/relay.ts'
import type { EventDraft, NewEvent } from '../events/buffer.ts'
import { NetworkDrafts } from './network-events.ts'
import { pageDraft } from './page-events.ts'
import { EventRate, type SkippedKind } from './rate.ts'
import { redactBody, redactHeaders, redactUrl, redactValue } from '../../../core/access/redact.ts'

export interface CollectorOptions {
  /** Event kinds to collect; an empty list collects nothing. */
  readonly kinds: readonly RelayEventKind[]
  readonly redact: boolean
  /** Whether to collect text bodies of responses. */
  readonly bodies: boolean
  /** Maximum number of events per second; console events are dropped first. */
  readonly maxEventsPerSec: number | null
  readonly onSkipped: (kind: SkippedKind) => void
  readonly onEvent: (event: NewEvent) => void
}

/** Number of console messages after which the page may release the objects that they printed. */
const releaseEvery = 200

export class Collector {
  readonly #channel: CdpChannel
  readonly #options: CollectorOptions
  readonly #watched = new Map<
    string,
    { readonly targetId: string; readonly network: NetworkDrafts; messages: number }
  >()
  readonly #rate: EventRate | undefined

  constructor(channel: CdpChannel, options: CollectorOptions) {
    this.#channel = channel
    this.#options = options
    if (options.maxEventsPerSec !== null) this.#rate = new EventRate(options.maxEventsPerSec)
  }

  /** Starts to collect the events of a session of a tab. */
  watch(targetId: string, sessionId: string): void {
    this.#listen(targetId, sessionId)
    this.#emit(targetId, { kind: 'page', type: 'attached', ts: Date.now(), data: {} })
  }

  /** Handles an event of the channel. */
  handleEvent({ method = '', params = {}, sessionId }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') return this.#detached(params['sessionId'] as string, sessionId)
    const watched = this.#watched.get(sessionId ?? '')
    if (!watched) return
    // Events of out-of-process frames and of workers belong to their page.
    if (method === 'Target.attachedToTarget') return this.#listen(watched.targetId, params['sessionId'] as string)
    const hasText = method === 'Network.loadingFinished' && watched.network.isText(params['requestId'] as string)
    const isNetwork = method.startsWith('Network.')
    const drafts = isNetwork ? watched.network.of(method, params) : [pageDraft(method, params) ?? []].flat()
    const emit = (extra = {}) => {
      for (const draft of drafts) this.#emit(watched.targetId, { ...draft, data: { ...draft.data, ...extra } })
    }
    if (hasText && this.#options.bodies) this.#addBody(params['requestId'] as string, sessionId!, emit)
    else emit()
    if (method === 'Runtime.consoleAPICalled' && ++watched.messages % releaseEvery === 0) {
      this.#send('Runtime.releaseObjectGroup', { objectGroup: 'console' }, sessionId!)
    }
  }

  /** Reports that a tab hangs, or responds again. */
  reportResponsive(targetId: string, responsive: boolean): void {
    this.#emit(targetId, { kind: 'page', type: 'unresponsive', ts: Date.now(), data: { responsive } })
  }

  #listen(targetId: string, sessionId: string): void {
    this.#watched.set(sessionId, { targetId, network: new NetworkDrafts(), messages: 0 })
    const { kinds } = this.#options
    if (kinds.includes('console')) {
      this.#send('Runtime.enable', {}, sessionId)
      this.#send('Log.enable', {}, sessionId)
    }
    if (kinds.includes('network')) {
      const { bodyBytes, bodiesBytes } = limits.relay
      const buffers = this.#options.bodies
        ? { maxTotalBufferSize: bodiesBytes, maxResourceBufferSize: bodyBytes }
        : { maxTotalBufferSize: 8 * 1024 * 1024 }
      this.#send('Network.enable', { ...buffers, maxPostDataSize: 0 }, sessionId)
    }
    if (kinds.includes('page')) {
      this.#send('Page.enable', {}, sessionId)
      this.#send('Inspector.enable', {}, sessionId)
    }
    this.#send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }, sessionId)
  }

  /** Adds the body of a text response, if the browser still has it. */
  #addBody(requestId: string, sessionId: string, emit: (extra?: { body: string }) => void): void {
    const message = { method: 'Network.getResponseBody', params: { requestId }, sessionId }
    this.#channel.post(message, ({ result }) => {
      const { body, base64Encoded } = (result ?? {}) as { body?: string; base64Encoded?: boolean }
      if (body === undefined || base64Encoded || body.length > limits.relay.bodyBytes) emit()
      else emit({ body: this.#options.redact ? redactBody(body) : body })
    })
  }

  /** Sends a command and ignores errors: workers lack some domains, and a tab may close at any time. */
  #send(method: string, params: Record<string, unknown>, sessionId: string): void {
    this.#channel.post({ method, params, sessionId }, () => {})
  }

  #detached(sessionId: string, parent: string | undefined): void {
    const watched = this.#watched.get(sessionId)
    this.#watched.delete(sessionId)
    if (!watched || parent !== undefined) return
    this.#emit(watched.targetId, { kind: 'page', type: 'detached', ts: Date.now(), data: {} })
  }

  #emit(targetId: string, draft: EventDraft): void {
    const { kinds, redact, onEvent } = this.#options
    if (!kinds.includes(draft.kind)) return
    if (this.#rate && !this.#rate.admits(draft.kind as SkippedKind)) {
      return this.#options.onSkipped(draft.kind as SkippedKind)
    }
    const data = redact ? withoutSecrets(draft.data) : draft.data
    onEvent(limitSize({ ...draft, target_id: targetId, data }))
  }
}

/** Fields that cannot hold secrets or are redacted already; scanning them would take most of the time. */
const secretFree = new Set([
  'level',
  'body',
  'method',
  'resource',
  'status',
  'mime',
  'request_id',
  'kind',
  'direction',
  'timing',
])

function withoutSecrets(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (secretFree.has(name) || typeof value === 'number' || typeof value === 'boolean') return [name, value]
      if (name === 'headers') return [name, redactHeaders(value as Record<string, string>)]
      if ((name === 'url' || name === 'location') && typeof value === 'string') return [name, redactUrl(value)]
      return [name, redactValue(value)]
    }),
  )
}

/** Returns the event with long texts and URLs truncated; sets `truncated` if anything was cut. */
function limitSize(event: NewEvent): NewEvent {
  let cut = false
  const shorten = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      // Bodies have their own limit.
      if (name === 'body') return value
      const maxChars = name === 'url' || name === 'location' ? limits.relay.urlChars : limits.relay.textChars
      if (value.length <= maxChars) return value
      cut = true
      return value.slice(0, maxChars)
    }
    if (Array.isArray(value)) return value.map((inner) => shorten(inner, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, key)]))
  }
  let data = shorten(event.data, '') as Record<string, unknown>
  // Drop the largest fields until the record fits.
  const { body, ...rest } = data
  data = rest
  while (JSON.stringify(data).length > limits.relay.recordChars) {
    const size = (value: unknown) => JSON.stringify(value)?.length ?? 0
    const [largest] = Object.entries(data).toSorted(([, one], [, other]) => size(other) - size(one))[0]!
    data = Object.fromEntries(Object.entries(data).filter(([name]) => name !== largest))
    cut = true
  }
  if (typeof body === 'string') data['body'] = body
  return { ...event, data, ...(cut && { truncated: true as const }) }
}
