/** The `Idempotency-Key` header. */
import { createHash } from 'node:crypto'
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { IdempotencyKey } from '../stores.ts'

/** A request as a store of responses identifies it. */
export interface IdempotentRequest {
  /** Operation and key; unique per caller. */
  readonly name: string
  /** Digest of the input. */
  readonly digest: string
}

/** Returns undefined for requests without a key. @throws BaxError `invalid_request` for a key that is too long. */
export function idempotentRequest(
  { operation, headers }: Pick<IdempotencyKey, 'operation' | 'headers'>,
  input: unknown,
): IdempotentRequest | undefined {
  const header = headers.get('idempotency-key')
  if (header === null || header === '') return undefined
  if (header.length > limits.repeats.keyChars) {
    const message = `must have at most ${limits.repeats.keyChars} characters`
    throw new BaxError('invalid_request', `idempotency-key ${message}`, {
      details: [{ path: 'idempotency-key', message }],
    })
  }
  const digest = createHash('sha256').update(JSON.stringify(input)).digest('base64')
  return { name: `${operation} ${header}`, digest }
}

export const idempotencyConflict = (): BaxError =>
  new BaxError('conflict', 'this idempotency-key was used for another request', {
    hint: 'use a new key for a new request',
  })
