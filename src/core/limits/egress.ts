/** Limits on outgoing connections; part of `limits.ts`. Milliseconds in `*Ms`. */
export const egressLimits = {
  /** Concurrent connections of browsers through the proxy. */
  connections: 4096,
  /** Time for a browser to send its destination. */
  greetingMs: 10_000,
  dialMs: 30_000,
  /** Idle time after which a half-closed connection is ended. */
  lingerMs: 30_000,
  /** Cache lifetime of resolved names. */
  nameMs: 10_000,
  names: 1000,
  /** Hosts whose last failure is remembered. */
  failures: 1000,
} as const
