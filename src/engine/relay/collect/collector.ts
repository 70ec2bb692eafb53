/** Collects what happens in the user's tabs, beside the browser; secrets go before anything leaves (`spec: relay 6`). */
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RelayEventKind } from '../../../core/shapes/relay.ts'
import type { NewEvent } from '../events/buffer.ts'
import { consoleDraft } from './console-events.ts'
import type { Draft } from './draft.ts'
import { fit } from './fit.ts'
import { NetworkDrafts } from './network-events.ts'
import { pageDraft } from './page-events.ts'
import { EventRate, type SkippedKind } from './rate.ts'
import { redactBody, redactHeaders, redactUrl, redactValue } from '../../../core/access/redact.ts'

export interface CollectorWishes {
  /** Kinds that are collected; none of them collects nothing. */
  readonly kinds: readonly RelayEventKind[]
  readonly redact: boolean
  readonly bodies: boolean
  readonly maxEventsPerSec: number | null
  readonly onSkipped: (kind: SkippedKind) => void
  readonly onEvent: (event: NewEvent) => void
}

/** Messages after which the page may let go of the objects that they showed. */
const releaseEvery = 200

interface Watched {
  readonly targetId: string
  readonly network: NetworkDrafts
  messages: number
}

export class Collector {
  readonly #channel: CdpChannel
  readonly #wishes: CollectorWishes
  readonly #watched = new Map<string, Watched>()
  readonly #rate: EventRate | undefined

  constructor(channel: CdpChannel, wishes: CollectorWishes) {
    this.#channel = channel
    this.#wishes = wishes
    if (wishes.maxEventsPerSec !== null) this.#rate = new EventRate(wishes.maxEventsPerSec)
  }

  /** Begins to listen on a session of a tab. */
  watch(targetId: string, sessionId: string): void {
    this.#listen(targetId, sessionId)
    this.#keep(targetId, { kind: 'page', type: 'attached', ts: Date.now(), data: {} })
  }

  /** Takes an event of the channel. */
  hear({ method = '', params = {}, sessionId }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') return this.#detached(params['sessionId'] as string, sessionId)
    const watched = this.#watched.get(sessionId ?? '')
    if (!watched) return
    // A frame of another site, or a worker: its events are its page's.
    if (method === 'Target.attachedToTarget') return this.#listen(watched.targetId, params['sessionId'] as string)
    const hasText = method === 'Network.loadingFinished' && watched.network.isText(params['requestId'] as string)
    const drafts = this.#draftsOf(watched, method, params)
    const keep = (extra = {}) => {
      for (const draft of drafts) this.#keep(watched.targetId, { ...draft, data: { ...draft.data, ...extra } })
    }
    if (hasText && this.#wishes.bodies) this.#askBody(params['requestId'] as string, sessionId!, keep)
    else keep()
    if (method === 'Runtime.consoleAPICalled' && ++watched.messages % releaseEvery === 0) {
      this.#tell('Runtime.releaseObjectGroup', { objectGroup: 'console' }, sessionId!)
    }
  }

  /** Tells that a tab hangs, or answers again. */
  responds(targetId: string, responsive: boolean): void {
    this.#keep(targetId, { kind: 'page', type: 'unresponsive', ts: Date.now(), data: { responsive } })
  }

  #listen(targetId: string, sessionId: string): void {
    this.#watched.set(sessionId, { targetId, network: new NetworkDrafts(), messages: 0 })
    const { kinds } = this.#wishes
    if (kinds.includes('console')) {
      this.#tell('Runtime.enable', {}, sessionId)
      this.#tell('Log.enable', {}, sessionId)
    }
    if (kinds.includes('network')) {
      const { bodyBytes, bodiesBytes } = limits.relay
      const buffers = this.#wishes.bodies
        ? { maxTotalBufferSize: bodiesBytes, maxResourceBufferSize: bodyBytes }
        : { maxTotalBufferSize: 8 * 1024 * 1024 }
      this.#tell('Network.enable', { ...buffers, maxPostDataSize: 0 }, sessionId)
    }
    if (kinds.includes('page')) {
      this.#tell('Page.enable', {}, sessionId)
      this.#tell('Inspector.enable', {}, sessionId)
    }
    this.#tell('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }, sessionId)
  }

  /** The text of an answer, as long as the browser still has it. */
  #askBody(requestId: string, sessionId: string, keep: (extra?: { body: string }) => void): void {
    const message = { method: 'Network.getResponseBody', params: { requestId }, sessionId }
    this.#channel.post(message, ({ result }) => {
      const { body, base64Encoded } = (result ?? {}) as { body?: string; base64Encoded?: boolean }
      if (body === undefined || base64Encoded || body.length > limits.relay.bodyBytes) keep()
      else keep({ body: this.#wishes.redact ? redactBody(body) : body })
    })
  }

  /** Workers have fewer domains than pages, and a tab may go at any time: a refusal is no fault. */
  #tell(method: string, params: Record<string, unknown>, sessionId: string): void {
    this.#channel.post({ method, params, sessionId }, () => {})
  }

  #detached(sessionId: string, parent: string | undefined): void {
    const watched = this.#watched.get(sessionId)
    this.#watched.delete(sessionId)
    if (!watched || parent !== undefined) return
    this.#keep(watched.targetId, { kind: 'page', type: 'detached', ts: Date.now(), data: {} })
  }

  #draftsOf({ network }: Watched, method: string, params: Record<string, unknown>): Draft[] {
    if (method.startsWith('Network.')) return network.of(method, params)
    const draft = consoleDraft(method, params) ?? pageDraft(method, params)
    return draft ? [draft] : []
  }

  #keep(targetId: string, draft: Draft): void {
    const { kinds, redact, onEvent } = this.#wishes
    if (!kinds.includes(draft.kind)) return
    if (this.#rate && !this.#rate.admits(draft.kind as SkippedKind)) {
      return this.#wishes.onSkipped(draft.kind as SkippedKind)
    }
    const data = redact ? withoutSecrets(draft.data) : draft.data
    onEvent(fit({ ...draft, target_id: targetId, data }))
  }
}

/** Fields whose values are names, or are clean already; looking for secrets in them would cost most of the time. */
const plain = new Set([
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
      if (plain.has(name) || typeof value === 'number' || typeof value === 'boolean') return [name, value]
      if (name === 'headers') return [name, redactHeaders(value as Record<string, string>)]
      if ((name === 'url' || name === 'location') && typeof value === 'string') return [name, redactUrl(value)]
      return [name, redactValue(value)]
    }),
  )
}
