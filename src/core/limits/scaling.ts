/** Limits of waiting sessions and of scalers in a fleet; part of `limits.ts`. */
export const scalingLimits = {
  /**
   * Provisions that workers take: the lease, how many workers may be lost while they create one, how many one worker
   * creates at once, how often it looks for them, and how often a build looks for those of builds without workers.
   */
  taking: { leaseMs: 15_000, attempts: 3, atOnce: 8, everyMs: 500, adoptMs: 5000 },
  /** Range of `--provision-timeout`, and of the number of workers. */
  provisionSecs: { least: 1, most: 3600 },
  workers: 10_000,
  /** Lease of the gateway that decides the number of workers, and the interval of its decisions. */
  leaseMs: 15_000,
  everyMs: 1000,
  /** Time for which fewer workers must have sufficed before idle ones are drained. */
  quietMs: 5 * 60_000,
  /** Free slots of each kind to keep in reserve. */
  reserveSlots: 1,
  /** Pause after a failure, and before a count that has no effect is requested again. */
  retryMs: 5000,
  repeatMs: 60_000,
  /** Time for a program that scales, and for a request to Kubernetes or Docker. */
  commandMs: 60_000,
  requestMs: 10_000,
  /** Characters of the error output of a program that an error shows, and bytes of a response that are read. */
  errorChars: 1000,
  answerBytes: 1024 * 1024,
} as const
