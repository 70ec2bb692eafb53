/** Defaults and maxima, in one place. Milliseconds in `*Ms`, seconds in `*Secs`, bytes in `*Bytes`. */
export const limits = {
  bodyBytes: 10 * 1024 * 1024,

  session: {
    idleTimeoutSecs: 300,
    timeoutSecs: 3600,
    maxTimeoutSecs: 86_400,
    /** How long before its end `session.expiring` is sent. */
    expiringNoticeSecs: 30,
    /** How long an ended session, or a finished provision, can still be asked about. */
    tombstoneMs: 10 * 60_000,
    viewport: { width: 1280, height: 720 },
  },

  provision: { timeoutMs: 120_000, retryAfterMs: 500 },

  command: {
    elementMs: 10_000,
    navigationMs: 30_000,
    evaluateMs: 30_000,
    batchMs: 300_000,
    /** Longest time that a `timeout_ms` may ask for. */
    maxMs: 300_000,
    perBatch: 1000,
    /** Batches that may wait for one session; one more is answered 429. */
    queue: 32,
  },

  pool: {
    /** Ready pages kept for the next sessions. */
    warm: 2,
    contextsPerBrowser: 25,
    browsers: 2,
    launchMs: 30_000,
    closeMs: 5_000,
  },

  engine: {
    /** A local engine without a session ends after this. */
    idleExitMs: 15 * 60_000,
    startMs: 20_000,
  },

  events: { ring: 1000 },
} as const
