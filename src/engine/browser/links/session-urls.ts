/** URLs where other programs reach a session; they pass its frame token as `?token=`. */
import type { Call } from '../../../core/operation/call.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'

/** Base URLs of the server: the one that the caller used, and the one that serves WebSockets. */
export type BaseUrls = Pick<Call, 'baseUrl' | 'socketBaseUrl'>

type SessionUrls = Pick<SessionRecord, 'sse_url' | 'cdp_url' | 'live_view_url'>

/** Record of a session without the URLs, which depend on the request. */
export type SessionSketch = Omit<SessionRecord, keyof SessionUrls>

export function urlsOf(
  { sessionId, servesCdp }: { readonly sessionId: string; readonly servesCdp: boolean },
  { baseUrl, socketBaseUrl }: BaseUrls,
): SessionUrls {
  const serves = socketBaseUrl !== null && servesCdp
  return {
    sse_url: `${baseUrl}/stream/sse?session_id=${sessionId}`,
    cdp_url: serves ? `${socketBaseUrl.replace(/^http/, 'ws')}/sessions/${sessionId}/cdp` : null,
    live_view_url: socketBaseUrl === null ? null : `${socketBaseUrl}/live/${sessionId}`,
  }
}

/** Returns the URLs of an ended session, whose event stream tells reconnecting clients that it has ended. */
export const urlsOfEnded = (sessionId: string, { baseUrl }: BaseUrls): SessionUrls =>
  urlsOf({ sessionId, servesCdp: false }, { baseUrl, socketBaseUrl: null })
