/** Where other programs reach a session; they show its frame token as `?token=`. */
import type { Call } from '../../../core/operation/operation.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'

/** Where the caller reached us, and where websockets are served. */
export type Bases = Pick<Call, 'baseUrl' | 'socketBaseUrl'>

export type Addresses = Pick<SessionRecord, 'sse_url' | 'cdp_url' | 'live_view_url'>

export interface Addressed {
  readonly sessionId: string
  /** Whether CDP can be spoken with it through us. */
  readonly servesCdp: boolean
}

export function addressesOf({ sessionId, servesCdp }: Addressed, { baseUrl, socketBaseUrl }: Bases): Addresses {
  const serves = socketBaseUrl !== null && servesCdp
  return {
    sse_url: sseUrl(sessionId, baseUrl),
    cdp_url: serves ? `${socketBaseUrl.replace(/^http/, 'ws')}/sessions/${sessionId}/cdp` : null,
    live_view_url: socketBaseUrl === null ? null : `${socketBaseUrl}/live/${sessionId}`,
  }
}

/** Of a session that has ended: its stream is asked once more by who was cut off, and answers that it is over. */
export function addressesOfEnded(sessionId: string, { baseUrl }: Bases): Addresses {
  return { sse_url: sseUrl(sessionId, baseUrl), cdp_url: null, live_view_url: null }
}

const sseUrl = (sessionId: string, baseUrl: string): string => `${baseUrl}/stream/sse?session_id=${sessionId}`
