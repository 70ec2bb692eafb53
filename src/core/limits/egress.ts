/** Limits on outgoing connections; part of `limits.ts`. Milliseconds in `*Ms`. */
export const egressLimits = {
  /** Concurrent connections of browsers through the proxy. */
  connections: 4096,
  /** Time for a browser to send its destination. */
  greetingMs: 10_000,
  dialMs: 30_000,
  /** Idle time after which a half-closed connection is ended. */
  lingerMs: 30_000,
  /** Cache lifetime of resolved names, and of names that cannot be resolved. */
  nameMs: 10_000,
  failedNameMs: 1000,
  names: 1000,
  /** Names that are looked up at the same time, and the time for one. */
  lookups: 256,
  lookupMs: 10_000,
  /** Time of a DNS server for its first answer, which doubles, and number of questions to each server. */
  tryMs: 2500,
  tries: 2,
  /** Time to wait for IPv6 addresses when the IPv4 ones are known, or the other way round. */
  otherFamilyMs: 500,
  /** Hosts whose last failure is remembered. */
  failures: 1000,
} as const
