/** The server process that hosts an engine, as operations see it. */
export interface Service {
  /** The server is shutting down: running work may finish, new work is rejected. */
  readonly draining: boolean
  /** Metrics in the Prometheus text format; absent where none are collected. */
  readonly metrics?: () => Promise<string>
}
