/** Reasons why a page could not be opened, where the browser only knows that its proxy made no connection. */
import type { BrowserContext, Page, Request } from 'playwright'
import type { Failures } from '../../egress/failures.ts'

const known = new WeakMap<BrowserContext, Failures>()
/** The last failed navigation of a page: its error text with the reason, and whether a redirect led to it. */
const failed = new WeakMap<Page, { readonly reason: string; readonly isRedirected: boolean }>()

/** Starts to record failed navigations. */
export function watchFailures(context: BrowserContext, failures: Failures): void {
  known.set(context, failures)
  context.on('requestfailed', (request) => {
    const page = request.isNavigationRequest() ? pageOf(request) : null
    const isRedirected = request.redirectedFrom() !== null
    if (page) failed.set(page, { reason: failureText(context, request), isRedirected })
  })
}

/** Returns why a request failed, as Chromium's error (`net::ERR_NAME_NOT_RESOLVED`) or `URL blocked`. */
export function failureText(context: BrowserContext, request: Request): string {
  const text = request.failure()?.errorText ?? 'failed'
  const reason = known.get(context)?.explain(text, request.url()) ?? text
  return /ERR_BLOCKED_BY_CLIENT/.test(reason) ? 'URL blocked' : reason
}

/** Replaces the proxy's error in the error of a navigation by the reason. */
export function withReason(thrown: unknown, page: Page | undefined): unknown {
  const last = page && failed.get(page)
  if (!last || !(thrown instanceof Error) || !byProxy.test(thrown.message)) return thrown
  const message = thrown.message.replace(byProxy, () => last.reason)
  // Playwright names the URL that was opened, which is not the one that failed.
  const shown = last.isRedirected ? message.replace(/ at https?:\S+/, '') : message
  return Object.assign(new Error(shown, { cause: thrown }), { name: thrown.name })
}

const byProxy = /net::ERR_(?:SOCKS_|TUNNEL_|EMPTY_RESPONSE|CONNECTION_RESET)\w*/

/** Returns the page of a request; null for service workers, and for requests before the page has a frame. */
export function pageOf(request: Request): Page | null {
  try {
    return request.serviceWorker() ? null : request.frame().page()
  } catch {
    return null
  }
}
