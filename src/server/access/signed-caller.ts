/**
 * The header with which a gateway forwards a request to a worker: who calls and what was checked, signed with the secret
 * that both share. It is valid once, for a short time, and for one worker, method, URL, body, and the headers that matter.
 * A streamed body is signed in a trailer. The worker proves with a header of its answer that it has the secret too.
 */
import { createHash, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { anonymousCaller, type Caller, keylessCaller, keyScopes } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { SeenNonces } from './nonces.ts'
import { type BodyHash, bodyHash, isSame, SignedBody } from './signed-body.ts'

export const forwardedHeader = 'x-bax-forwarded'

/** Header of a worker's response to a request that it has not run: the gateway may try another worker. */
export const refusedHeader = 'x-bax-refused'

/** Reasons in that header: an invalid signature, no new work, or an error that another worker may not have. */
export type Refusal = 'signature' | 'draining' | 'unavailable'

/** Header of a worker's answer, which proves that the worker has the secret. */
export const answerHeader = 'x-bax-answer'

/** Header with the digest of an answer that is sent in one piece; the proof covers it. */
export const contentHeader = 'x-bax-content'

/** Parts of an answer that its proof covers, besides the status. */
interface Answered {
  readonly refusal?: string | undefined
  /** Digest of the content; absent for streams. */
  readonly content?: string | undefined
}

/** Request as both sides see it: the method, the path with its query, and the headers. */
export interface RequestLine {
  readonly method: string
  readonly target: string
  readonly headers: Pick<Headers, 'get'>
}

export interface Forwarded {
  readonly caller: Caller
  readonly requestId: string
  /** Slot of the worker that is reserved for what the request creates. */
  readonly reservation?: string
}

/** A request to sign. */
export interface Outgoing extends RequestLine {
  /** ID of the worker that gets it. */
  readonly worker: string
  /** Absent without a body; a stream is signed while it is sent. */
  readonly body?: Uint8Array | NodeJS.ReadableStream | undefined
}

export interface Signature {
  /** Value of the header. */
  readonly header: string
  /** Returns the digest of a stream, which is sent as a trailer. */
  bodyHash(): BodyHash
  /** Whether an answer is that of a worker with the same secret. */
  isAnswered(answer: Pick<IncomingMessage, 'statusCode' | 'headers'>): boolean
}

/** A request that a worker accepts; its body is verified while it is read. */
export interface Verified extends Forwarded {
  readonly body: SignedBody
}

/** The worker's side. */
export interface ForwardedVerifier {
  /** @throws BaxError `unauthorized`; `not_ready` before the worker is registered, `no_capacity` */
  verify(header: string | null, line: RequestLine): Verified
  /** Returns the value of the header of an answer; undefined for a request that nobody with the secret has signed. */
  answer(header: string | null, status: number, answered?: Answered): string | undefined
}

const signed = z.object({
  method: z.string(),
  target: z.string(),
  worker: z.string(),
  nonce: z.string(),
  /** Digest of the signed headers. */
  headers: z.string(),
  /** Digest of the body; null for a stream. */
  body: z.string().nullable(),
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

/** Headers that change what a request does, or the URLs and the form of its answer. */
const signedHeaders = [
  'accept',
  'authorization',
  'content-type',
  'host',
  'if-none-match',
  'if-range',
  'last-event-id',
  'origin',
  'prefer',
  'range',
  'sec-websocket-protocol',
  'x-api-key',
]

const digestOfHeaders = (headers: Pick<Headers, 'get'>): string => {
  const hash = createHash('sha256')
  for (const name of signedHeaders) hash.update(`${name}:${headers.get(name)?.trim() ?? ''}\n`)
  return hash.digest('base64url')
}

/** Signs and verifies forwarded requests with a secret of at least `limits.gateway.secretBytes`. */
export class ForwardedRequests {
  readonly #secret: KeyObject
  readonly #now: () => number

  constructor(secret: Buffer, now: () => number = Date.now) {
    this.#secret = createSecretKey(secret)
    this.#now = now
  }

  sign({ method, target, headers, worker, body }: Outgoing, { caller, requestId, reservation }: Forwarded): Signature {
    const at = this.#now()
    const { keyId, name, scopes, admin } = caller
    const nonce = randomBytes(16).toString('base64url')
    const isStream = body !== undefined && !(body instanceof Uint8Array)
    const facts: Signed = {
      method,
      target,
      worker,
      nonce,
      headers: digestOfHeaders(headers),
      body: isStream
        ? null
        : bodyHash()
            .update(body ?? '')
            .digest('base64url'),
      at,
      requestId,
      expires: at + limits.gateway.signatureMs,
      ...(reservation !== undefined && { reservation }),
      caller: { keyId, name, scopes: [...scopes], admin },
    }
    const text = Buffer.from(JSON.stringify(facts)).toString('base64url')
    return {
      header: `${text}.${this.#digest(text)}`,
      bodyHash: () => bodyHash(this.#secret, nonce),
      isAnswered: ({ statusCode = 0, headers }) => {
        const {
          [refusedHeader]: refusal,
          [contentHeader]: content,
          [answerHeader]: answer,
        } = headers as Readonly<Record<string, string | undefined>>
        return answer !== undefined && isSame(answer, this.#answer(nonce, statusCode, { refusal, content }))
      },
    }
  }

  /** Returns the side of a worker; `isOwn` returns whether an ID is that of the worker, undefined before it has one. */
  forWorker(isOwn: (worker: string) => boolean | undefined): ForwardedVerifier {
    const seen = new SeenNonces()
    return {
      verify: (header, line) => {
        const facts = this.#factsOf(header)
        assertOwn(isOwn(facts.worker))
        if (
          facts.method !== line.method ||
          facts.target !== line.target ||
          facts.headers !== digestOfHeaders(line.headers)
        )
          throw new BaxError('unauthorized', 'the signature of the gateway is for another request')
        this.#assertFresh(facts)
        seen.assertNew(facts.nonce)
        const { requestId, reservation, nonce } = facts
        const body =
          facts.body === null
            ? new SignedBody(() => bodyHash(this.#secret, nonce))
            : new SignedBody(bodyHash, facts.body)
        return { caller: callerOf(facts.caller), requestId, body, ...(reservation !== undefined && { reservation }) }
      },
      answer: (header, status, answered) => {
        const text = this.#signedText(header)
        if (text === undefined) return undefined
        return this.#answer((parsed(text) as Signed).nonce, status, answered)
      },
    }
  }

  #factsOf(header: string | null): Signed {
    if (header === null) {
      throw new BaxError('unauthorized', 'a worker only accepts requests of its gateways', {
        hint: 'send the request to a gateway (bax serve --fleet)',
      })
    }
    const text = this.#signedText(header)
    if (text !== undefined) return signed.parse(parsed(text))
    throw new BaxError('unauthorized', invalidSignature.message, { hint: invalidSignature.hint })
  }

  /** Returns the text of a header that somebody with the secret has signed. */
  #signedText(header: string | null): string | undefined {
    const [text = '', digest = ''] = header?.split('.') ?? []
    return isSame(digest, this.#digest(text)) ? text : undefined
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

  /** The texts of requests have no line break, so that no answer is the signature of a request. */
  #answer(nonce: string, status: number, { refusal = '', content = '' }: Answered = {}): string {
    return this.#digest(`answer\n${nonce}\n${status}\n${refusal}\n${content}`)
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}

/** Message and hint about a signature that was made with another secret. */
export const invalidSignature = {
  message: 'the signature of the gateway is not valid',
  hint: 'use the same secret file for all gateways and workers',
}

const parsed = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())

function assertOwn(isOwn: boolean | undefined): void {
  if (isOwn === true) return
  if (isOwn === undefined) throw new BaxError('not_ready', 'the worker is not registered yet')
  throw new BaxError('unauthorized', 'the request is for another worker, which had this address before', {
    hint: 'the gateway forgets that worker within seconds',
  })
}

/** Callers without a key are compared by identity. */
function callerOf(caller: Signed['caller']): Caller {
  if (caller.keyId !== null) return caller
  return caller.admin ? keylessCaller : anonymousCaller
}

const seconds = (ms: number): number => Math.round(ms / 1000)
