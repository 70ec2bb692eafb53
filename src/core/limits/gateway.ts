/** Limits of gateways and of what they forward; part of `limits.ts`. Milliseconds in `*Ms`, bytes in `*Bytes`. */
export const gatewayLimits = {
  /** Lifetime of a signed request, and the difference of clocks that is tolerated on top. */
  signatureMs: 60_000,
  skewToleranceMs: 30_000,
  /** Signatures that a worker remembers, so that none is used twice: those of about four minutes. */
  nonces: 500_000,
  /** Minimum length of the secret that gateways and workers share. */
  secretBytes: 32,
  /** Time to connect to a worker. */
  connectMs: 5000,
  /** Time for a worker to answer when the state of the fleet is requested. */
  reachMs: 2000,
  /** How long an idle connection to a worker is kept; less than `connection.idleMs`, after which the worker closes it. */
  idleMs: 30_000,
  /** Responses of up to this size are complete before the client gets their beginning. */
  bufferedBytes: 64 * 1024,
  /** Number and age of cached lookups of objects. */
  cachedObjects: 10_000,
  cachedMs: 5000,
  /** Age from which on the loads of workers are read again. */
  loadsMs: 500,
  /** Time after which a failure of a worker weighs half as much in the choice of the next one. */
  penaltyMs: 10_000,
  /** Interval of checking whether the workers that have open requests are still alive. */
  watchMs: 2000,
  /** Number of workers that a request may be given to, one after the other. */
  attempts: 3,
  /** Time for a worker to close a websocket itself when its key is revoked. */
  revokedMs: 2000,
}
