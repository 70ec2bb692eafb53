import { randomBytes } from 'node:crypto'

/** Prefixes of identifiers (`spec: contract`, head). */
type IdPrefix =
  | 'key'
  | 'epo'
  | 'rly'
  | 'rtk'
  | 'ses'
  | 'prv'
  | 'req'
  | 'eng'
  | 'obs'
  | 'scr'
  | 'crl'
  | 'sh'
  | 'ex'
  | 'art'
  | 'wrk'
  | 'rsv'
  | 'apr'
  | 'hnd'

/** Creates an identifier with 120 random bits, e.g. `ses_3q2-7wAAB…`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${nextBytes().toString('base64url')}`

const idBytes = 15

/** Random bytes for the next identifiers: every request gets one, and reading the random source takes long. */
let pool = Buffer.alloc(0)

function nextBytes(): Buffer {
  if (pool.length === 0) pool = randomBytes(idBytes * 64)
  const bytes = pool.subarray(0, idBytes)
  pool = pool.subarray(idBytes)
  return bytes
}

/** Converts an identifier to a UUID (version 4), for clients that require one: its 120 bits fit into a UUID's 122. */
export function uuidOf(id: string): string {
  const hex = Buffer.from(id.slice(id.indexOf('_') + 1), 'base64url').toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18)}`
}

/** Converts such a UUID back to the identifier; returns any other text unchanged. */
export function idFromUuid(prefix: IdPrefix, text: string): string {
  const parts = /^([\da-f]{8})-([\da-f]{4})-4([\da-f]{3})-8([\da-f]{3})-([\da-f]{12})$/i.exec(text)
  return parts ? `${prefix}_${Buffer.from(parts.slice(1).join(''), 'hex').toString('base64url')}` : text
}

/** Creates an opaque bearer token for one session: `ft_` and 32 random bytes. */
export const newFrameToken = (): string => `ft_${randomBytes(32).toString('base64url')}`
