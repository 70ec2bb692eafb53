import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes as text, for what only one caller may know. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Compares in a time that tells nothing. */
export function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
