/** Bounds of what leaves the engine; part of the one table of limits. Milliseconds in `*Ms`. */
export const egressLimits = {
  /** Connections of browsers that go through the proxy at the same time. */
  connections: 4096,
  /** Time for a browser to say where it wants to go. */
  greetingMs: 10_000,
  dialMs: 30_000,
  /** Silence after which a connection is ended that one side has left. */
  lingerMs: 30_000,
  /** How long the addresses of a name are taken as they were. */
  nameMs: 10_000,
  names: 1000,
  /** Hosts of which the reason of the last failure is known. */
  failures: 1000,
} as const
