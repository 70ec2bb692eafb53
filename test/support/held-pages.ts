/** A page whose response is held until the test releases it. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface HeldPage {
  readonly page: (request: IncomingMessage, response: ServerResponse) => void
  /** Resolves once there is a new request. */
  requested(): Promise<void>
  /** Responds to all held requests. */
  release(): void
}

export function heldPages(): HeldPage {
  const waiting = new Set<ServerResponse>()
  let newRequests = 0
  let onRequest = () => {}
  return {
    page(_request, response) {
      waiting.add(response)
      newRequests += 1
      onRequest()
    },
    async requested() {
      while (newRequests === 0) await new Promise<void>((resolve) => (onRequest = resolve))
      newRequests = 0
    },
    release() {
      for (const response of waiting) {
        response.setHeader('content-type', 'text/html; charset=utf-8')
        response.end('<!doctype html><title>Held</title><main><h1>Held</h1><p>At last some words of a page.</p></main>')
      }
      waiting.clear()
    },
  }
}
