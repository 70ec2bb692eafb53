/**
 * The header with which a gateway forwards a request to a worker: who calls and what was checked, signed with the secret
 * that both share. It is valid for one method and URL, and for a short time.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { anonymousCaller, type Caller, keylessCaller, keyScopes } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

export const forwardedHeader = 'x-bax-forwarded'

/** Header of a worker's response to a request that it has not run: the gateway may try another worker. */
export const refusedHeader = 'x-bax-refused'

/** Reasons in that header: an invalid signature, no new work, or something that the worker lacks. */
export type Refusal = 'signature' | 'draining' | 'unavailable'

/** Request as both sides see it: the method, and the path with its query. */
export interface RequestLine {
  readonly method: string
  readonly target: string
}

export interface Forwarded {
  readonly caller: Caller
  readonly requestId: string
  /** Slot of the worker that is reserved for what the request creates. */
  readonly reservation?: string
}

const signed = z.object({
  method: z.string(),
  target: z.string(),
  /** Milliseconds since 1970, by the clock of the gateway. */
  at: z.int(),
  expires: z.int(),
  requestId: z.string(),
  reservation: z.string().optional(),
  caller: z.object({
    keyId: z.string().nullable(),
    name: z.string().nullable(),
    scopes: z.array(z.enum(keyScopes)),
    admin: z.boolean(),
  }),
})

type Signed = z.output<typeof signed>

/** Signs and verifies forwarded requests with a secret of at least `limits.gateway.secretBytes`. */
export class ForwardedRequests {
  readonly #secret: KeyObject
  readonly #now: () => number

  constructor(secret: Buffer, now: () => number = Date.now) {
    this.#secret = createSecretKey(secret)
    this.#now = now
  }

  /** Returns the value of the header. */
  sign({ method, target }: RequestLine, { caller, requestId, reservation }: Forwarded): string {
    const at = this.#now()
    const { keyId, name, scopes, admin } = caller
    const facts: Signed = {
      method,
      target,
      at,
      requestId,
      expires: at + limits.gateway.signatureMs,
      ...(reservation !== undefined && { reservation }),
      caller: { keyId, name, scopes: [...scopes], admin },
    }
    const text = Buffer.from(JSON.stringify(facts)).toString('base64url')
    return `${text}.${this.#digest(text)}`
  }

  /** @throws BaxError `unauthorized` */
  verify(header: string | null, { method, target }: RequestLine): Forwarded {
    if (header === null) {
      throw new BaxError('unauthorized', 'a worker only accepts requests of its gateways', {
        hint: 'send the request to a gateway (bax serve --fleet)',
      })
    }
    const [text = '', digest = ''] = header.split('.')
    const given = Buffer.from(digest)
    const expected = Buffer.from(this.#digest(text))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new BaxError('unauthorized', 'the signature of the gateway is not valid', {
        hint: 'use the same secret file for all gateways and workers',
      })
    }
    const facts = signed.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    if (facts.method !== method || facts.target !== target)
      throw new BaxError('unauthorized', 'the signature of the gateway is for another request')
    this.#assertFresh(facts)
    const { requestId, reservation } = facts
    return { caller: callerOf(facts.caller), requestId, ...(reservation !== undefined && { reservation }) }
  }

  #assertFresh({ at, expires }: Signed): void {
    const now = this.#now()
    const { skewToleranceMs } = limits.gateway
    if (at - now <= skewToleranceMs && now - expires <= skewToleranceMs) return
    const [message, skewMs] =
      at > now
        ? [`was made ${seconds(at - now)} s in the future`, at - now]
        : [`expired ${seconds(now - expires)} s ago`, expires - now]
    throw new BaxError('unauthorized', `the signature of the gateway ${message}`, {
      hint: 'synchronize the clocks of gateways and workers',
      details: { skew_ms: skewMs },
    })
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}

/** Callers without a key are compared by identity. */
function callerOf(caller: Signed['caller']): Caller {
  if (caller.keyId !== null) return caller
  return caller.admin ? keylessCaller : anonymousCaller
}

const seconds = (ms: number): number => Math.round(ms / 1000)
