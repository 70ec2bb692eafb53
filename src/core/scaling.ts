/** How the number of workers of a fleet is decided, and what scalers report. */

/** Platform that runs the workers: a Swarm service, a Kubernetes workload, a program, or none (a fixed set). */
export type ScalerTarget =
  | { readonly kind: 'none' }
  | { readonly kind: 'docker'; readonly service: string }
  | {
      readonly kind: 'kubernetes'
      readonly workload: 'deployment' | 'statefulset'
      readonly name: string
      /** Undefined: the namespace of the gateway's pod. */
      readonly namespace?: string
      /** Base URL of the API, such as that of `kubectl proxy`; undefined inside the cluster. */
      readonly api?: string
    }
  | { readonly kind: 'command'; readonly program: string }

export interface ScalingOptions {
  readonly target: ScalerTarget
  /** Number of workers. */
  readonly min: number
  readonly max: number
  /** Time for a session to get a worker, in milliseconds. */
  readonly provisionTimeoutMs: number
}

/** State of the scaler, as `bax fleet status` reports it. */
export interface ScalingState {
  /** The scaler in words, such as `Swarm service bax_worker`. */
  readonly scaler: string
  readonly wanted: number
  readonly min: number
  readonly max: number
  /** IDs of idle workers that were drained to be removed. */
  readonly leaving: readonly string[]
  /** Error of the last attempt; null if it succeeded. */
  readonly error: string | null
  /** ISO 8601 UTC. */
  readonly updated_at: string
}
