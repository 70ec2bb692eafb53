import { randomBytes } from 'node:crypto'

/** Prefixes of the identifiers that the service hands out (`spec: contract`, head). */
type IdPrefix = 'epo' | 'rly' | 'rtk' | 'ses' | 'prv' | 'req' | 'eng' | 'obs' | 'scr' | 'crl' | 'sh' | 'ex' | 'art'

/** A fresh identifier with 120 random bits, e.g. `ses_3q2-7wAAB…`. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${randomBytes(15).toString('base64url')}`

/** An opaque bearer token bound to one session: `ft_` and 32 random bytes. */
export const newFrameToken = (): string => `ft_${randomBytes(32).toString('base64url')}`
