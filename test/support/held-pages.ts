/** A page whose response is held until the test releases it. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface HeldPage {
  readonly page: (request: IncomingMessage, response: ServerResponse) => void
  /** Resolves once there is a new request. */
  asked(): Promise<void>
  /** Responds to all held requests. */
  letGo(): void
}

export function heldPages(): HeldPage {
  const waiting = new Set<ServerResponse>()
  let unheard = 0
  let hear = () => {}
  return {
    page(_request, response) {
      waiting.add(response)
      unheard += 1
      hear()
    },
    async asked() {
      while (unheard === 0) await new Promise<void>((resolve) => (hear = resolve))
      unheard = 0
    },
    letGo() {
      for (const response of waiting) {
        response.setHeader('content-type', 'text/html; charset=utf-8')
        response.end('<!doctype html><title>Held</title><main><h1>Held</h1><p>At last some words of a page.</p></main>')
      }
      waiting.clear()
    },
  }
}
