/** A page whose answer waits until the test lets go of it. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface HeldPage {
  readonly page: (request: IncomingMessage, response: ServerResponse) => void
  /** Resolves when the page is waited for by someone new. */
  asked(): Promise<void>
  /** Answers all who wait. */
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
