/** Limits of the stores that gateways and workers share; part of `limits.ts`. Milliseconds in `*Ms`. */
export const storeLimits = {
  /** Interval of looking for changes that no notification announced: to keys, and to relay tokens in use. */
  refreshMs: 500,
  /** Age of the copy of the keys from which it admits nobody. */
  keysAgeMs: 10_000,
  /** Lease of a request with an `Idempotency-Key`: its gateway counts as dead when it has not renewed it. */
  leaseMs: 15_000,
  /** How long requests that waited for a failed one can still read its error. */
  failureMs: 5000,
  /** Interval of asking for the response of the request that runs, at first and at most. */
  waitMs: 20,
  longestWaitMs: 500,
  /** Profiles read at once; they may be large. */
  profiles: 16,
  /** Wait for another process that changes the same profile. */
  lockMs: 10_000,
  /** Attempts to save a profile while others are saved. */
  attempts: 20,
} as const

/** Stored credentials; their number per key is in `server.ts`. */
export const credentialLimits = {
  nameChars: 64,
  secretChars: 4096,
  /** Minimum length of a password. */
  passwordChars: 4,
  /** Passkeys of one credential. */
  passkeys: 20,
  /** Characters of one credential, as JSON. */
  chars: 64 * 1024,
  /** Uses by one key, per second and at once: a log-in, a field that is filled in, passkeys for a session. */
  uses: { rate: 2, burst: 120 },
} as const
