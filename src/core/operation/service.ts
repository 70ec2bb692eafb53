/** The process that serves an engine to others, as operations see it. */
export interface Service {
  /** It is about to end: what runs may finish, nothing new is begun. */
  readonly draining: boolean
  /** Its counters in Prometheus' text format; absent where nobody counts. */
  readonly metrics?: () => Promise<string>
}
