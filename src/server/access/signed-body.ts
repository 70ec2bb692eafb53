/** Bodies of forwarded requests, which are verified while they are read. */
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'

/** Trailer with the digest of a streamed body. */
export const bodyTrailer = 'x-bax-body'

/** Digest of a body. */
export interface BodyHash {
  update(chunk: Uint8Array | string): BodyHash
  digest(encoding: 'base64url'): string
}

/** Starts the digest of a body: a plain one, which is signed itself, or one that only the secret and the nonce give. */
export const bodyHash = (secret?: KeyObject, nonce = ''): BodyHash =>
  secret ? createHmac('sha256', secret).update(`body\n${nonce}\n`) : createHash('sha256')

/** Compares digests in constant time. */
export function isSame(one: string, other: string): boolean {
  const [given, expected] = [Buffer.from(one), Buffer.from(other)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export class SignedBody {
  readonly #start: () => BodyHash
  readonly #expected: string | undefined
  #hash: BodyHash | undefined
  #isForged = false

  /** `expected` is the digest; without it, it is in the trailer. */
  constructor(start: () => BodyHash, expected?: string) {
    this.#start = start
    this.#expected = expected
  }

  /** Whether the digest did not match. */
  get isForged(): boolean {
    return this.#isForged
  }

  update(chunk: Uint8Array): void {
    this.#hash = (this.#hash ?? this.#start()).update(chunk)
  }

  /** Called at the end of the body, before it has an effect. @throws BaxError `unauthorized` for another body */
  assertComplete(incoming: Pick<IncomingMessage, 'trailers'> | undefined): void {
    const expected = this.#expected ?? incoming?.trailers[bodyTrailer] ?? ''
    this.#isForged = !isSame((this.#hash ?? this.#start()).digest('base64url'), expected)
    if (!this.#isForged) return
    throw new BaxError('unauthorized', 'the body is not the one that the gateway has signed')
  }
}
