/** How connectors come to the engine. */
import type { Tunnel } from '../tunnel/tunnel.ts'

/** By what right a connector came: only the same may resume what it began. */
export interface Principal {
  /** Token or key, by its id; null within one process. */
  readonly tokenId: string | null
  /** The key that it belongs to; null where no keys are in use. */
  readonly owner: string | null
  readonly transport: 'ws' | 'local'
  /** What it came with is used up, but for going on with what it began. */
  readonly onlyResumes: boolean
}

/** How a connector came. */
export interface Arrival {
  readonly principal: Principal
  readonly tunnel: Tunnel
  /** The pace at which both sides show that they are there. */
  readonly heartbeatMs: number
}
