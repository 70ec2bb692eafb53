import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Returns a secret: 32 random bytes as base64url. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Compares two secrets in constant time. */
export function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
