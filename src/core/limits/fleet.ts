/** Limits of a fleet and its workers; part of `limits.ts`. Milliseconds in `*Ms`. */
export const fleetLimits = {
  /** A worker that sends no heartbeat for this long has lost everything it held. */
  leaseMs: 15_000,
  heartbeatMs: 3000,
  /** Interval of checking whether the browser and Docker of a worker work; a third of it while one does not. */
  checkMs: 30_000,
  /** Time for such a check. */
  answerCheckMs: 60_000,
  /** Interval of removing lost workers and unused reservations, in each gateway. */
  reapMs: 2000,
  /** Time for a reserved slot to be bound. */
  reservationMs: 60_000,
  /** Lifetime of the tombstones of objects whose worker was lost. */
  lostMs: 10 * 60_000,
  /** How long a loss of the data of the fleet is reported. */
  lossShownMs: 24 * 3600_000,
  /** Time for an answer of Redis, including the wait for a lost connection. */
  answerMs: 5000,
  /** Difference of clocks that `doctor` warns about: signed requests live for little longer. */
  skewMs: 5000,
} as const

/** Defaults of a worker. */
export const workerLimits = {
  /** Relays at the same time: each is one connection. */
  relays: 200,
  /** Pages of crawls at the same time; see `WorkerIdentity`. */
  pages: 8,
  /** Seconds for sessions and running work to end after SIGTERM. */
  drainSecs: 300,
}
