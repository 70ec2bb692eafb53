/** Provisions as gateways offer them to callers. */
import { type Caller, canSee } from '../../core/access/caller.ts'
import { BaxError, type ErrorBody } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/call.ts'
import type { FleetProvisions, ProvisionCall } from '../../core/provisions.ts'
import type { ProvisionRecord, SessionInput } from '../../core/shapes/session.ts'
import { provisionNotFound, queueFullError } from '../../engine/browser/create/provision.ts'
import { urlsOf } from '../../engine/browser/links/session-urls.ts'
import { type ProvisionStore, stagesOf, type StoredProvision, time } from './store.ts'

export class GatewayProvisions implements FleetProvisions {
  readonly #store: ProvisionStore
  readonly #timeoutMs: number

  /** `timeoutMs` is the time for a session to get ready. */
  constructor(store: ProvisionStore, timeoutMs: number = limits.provision.timeoutMs) {
    this.#store = store
    this.#timeoutMs = timeoutMs
  }

  async begin({ input, most }: { input: SessionInput; most: number }, call: Call): Promise<string> {
    const { caller, baseUrl, socketBaseUrl, requestId } = call
    const id = newId('prv')
    const job = { caller, input, baseUrl, socketBaseUrl, requestId, most }
    const outcome = await this.#store.begin(id, job, this.#timeoutMs)
    if (outcome === 'ok') return id
    if (outcome === 'full') throw queueFullError()
    if (outcome === 'name') throw nameTaken(input.requested_name)
    throw new BaxError('too_many_sessions', `${most} browser sessions of this key already wait for a worker`, {
      hint: 'wait for them, or cancel one',
      details: { limit: 'sessions', most },
      retryAfterSecs: limits.overload.retryAfterSecs,
    })
  }

  async get(provisionId: string, call: ProvisionCall): Promise<ProvisionRecord> {
    const stored = await this.#store.read(provisionId)
    if (stored && canSee(call.caller, stored['owner'] || null)) return this.#recordOf(provisionId, stored, call)
    throw provisionNotFound(provisionId)
  }

  async wait(provisionId: string, call: ProvisionCall & Pick<Call, 'signal'>): Promise<ProvisionRecord> {
    try {
      for (;;) {
        const ended = this.#nextEnd(provisionId, call.signal)
        try {
          const record = await this.#getPatiently(provisionId, call)
          if (record && record.status !== 'provisioning') return readyOrThrow(record)
          await ended.promise
        } finally {
          ended.stop()
        }
      }
    } catch (error) {
      if (call.signal.aborted) await this.#store.cancel(provisionId)
      throw error
    }
  }

  async cancel(provisionId: string, call: ProvisionCall): Promise<void> {
    await this.get(provisionId, call)
    await this.#store.cancel(provisionId)
  }

  cancelOwn({ keyId }: Caller): Promise<string[]> {
    return this.#store.cancelOwn(keyId ?? '')
  }

  waiting(): Promise<number> {
    return this.#store.waiting()
  }

  /** Listens at once, so that no end is missed while the record is read. */
  #nextEnd(provisionId: string, signal: AbortSignal): { promise: Promise<void>; stop: () => void } {
    const stopping = new AbortController()
    const either = AbortSignal.any([signal, stopping.signal])
    const isEnd = (message: string) => message === `ended ${provisionId}`
    const promise = this.#store.signals.next(limits.provision.retryAfterMs, isEnd, either)
    promise.catch(() => {})
    return { promise, stop: () => stopping.abort() }
  }

  /** Returns the record; undefined while Redis is away, which does not end a provision. */
  async #getPatiently(provisionId: string, call: ProvisionCall): Promise<ProvisionRecord | undefined> {
    try {
      return await this.get(provisionId, call)
    } catch (error) {
      if (error instanceof BaxError && error.code === 'fleet_unavailable') return undefined
      throw error
    }
  }

  #recordOf(provision_id: string, stored: StoredProvision, call: ProvisionCall): ProvisionRecord {
    const created = this.#store.resultOf(provision_id, stored)
    const { session_id = null, frame_token = null, name = null, warning, serves_cdp = false } = created ?? {}
    const stages = stagesOf(stored)
    const { stage, at: updated_at } = stages.at(-1)!
    const started = Number(stored['created'])
    const expires = stored['ended']
      ? Number(stored['ended']) + limits.session.tombstoneMs
      : started + Number(stored['timeout'])
    const position = Number(stored['position'])
    return {
      provision_id,
      status: stored['status'] as ProvisionRecord['status'],
      stage,
      stages,
      queue_position: position < 0 ? null : position + 1,
      retry_after_ms: limits.provision.retryAfterMs,
      created_at: time(started),
      updated_at,
      expires_at: time(expires),
      session_id,
      frame_token,
      name,
      ...(session_id === null
        ? { sse_url: null, cdp_url: null, live_view_url: null }
        : urlsOf({ sessionId: session_id, servesCdp: serves_cdp }, call)),
      ...(warning !== undefined && { warning }),
      error: stored['error'] ?? null,
      code: stored['code'] ?? null,
    }
  }
}

const nameTaken = (name: string | undefined): BaxError =>
  new BaxError('conflict', `a session that waits for a worker has the name ${JSON.stringify(name)}`, {
    hint: 'use another name, or cancel its provision',
  })

/** @throws BaxError with the reason why there is no session */
function readyOrThrow(record: ProvisionRecord): ProvisionRecord {
  if (record.status === 'ready') return record
  const body: Partial<ErrorBody> = { error: record.error ?? `the provisioning was ${record.status}` }
  throw BaxError.fromBody(record.code ? { ...body, code: record.code } : body, 'no_capacity')
}
