/** Identity and transport of a connector. */
import type { Tunnel } from '../tunnel/tunnel.ts'

/** Credentials of a connector; only the same ones may resume its session. */
export interface Principal {
  /** ID of the token or key; null within one process. */
  readonly tokenId: string | null
  /** Key that owns it; null where no keys are in use. */
  readonly owner: string | null
  readonly transport: 'ws' | 'local'
  /** Whether its single-use token was used before, so that it can only resume its session. */
  readonly onlyResumes: boolean
}

/** Connection of a connector. */
export interface ConnectorConnection {
  readonly principal: Principal
  readonly tunnel: Tunnel
  /** Interval of the heartbeats of both sides, in milliseconds. */
  readonly heartbeatMs: number
}
