/** URLs where other programs reach a session; they pass its frame token as `?token=`. */
import type { Call } from '../../../core/operation/call.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'

/** Base URLs of the server: the one that the caller used, and the one that serves WebSockets. */
export type BaseUrls = Pick<Call, 'baseUrl' | 'socketBaseUrl'>

export type SessionUrls = Pick<SessionRecord, 'sse_url' | 'cdp_url' | 'live_view_url'>

export interface SessionUrlFacts {
  readonly sessionId: string
  /** Whether the engine serves CDP for the session. */
  readonly servesCdp: boolean
}

export function urlsOf({ sessionId, servesCdp }: SessionUrlFacts, { baseUrl, socketBaseUrl }: BaseUrls): SessionUrls {
  const serves = socketBaseUrl !== null && servesCdp
  return {
    sse_url: sseUrl(sessionId, baseUrl),
    cdp_url: serves ? `${socketBaseUrl.replace(/^http/, 'ws')}/sessions/${sessionId}/cdp` : null,
    live_view_url: socketBaseUrl === null ? null : `${socketBaseUrl}/live/${sessionId}`,
  }
}

/** Returns the URLs of an ended session, whose event stream tells reconnecting clients that it has ended. */
export function urlsOfEnded(sessionId: string, { baseUrl }: BaseUrls): SessionUrls {
  return { sse_url: sseUrl(sessionId, baseUrl), cdp_url: null, live_view_url: null }
}

const sseUrl = (sessionId: string, baseUrl: string): string => `${baseUrl}/stream/sse?session_id=${sessionId}`
