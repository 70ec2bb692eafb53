/** Reasons why a page could not be opened, where the browser only knows that its proxy made no connection. */
import type { BrowserContext, Page, Request } from 'playwright'
import type { Failures } from '../../egress/failures.ts'

const known = new WeakMap<BrowserContext, Failures>()
/** Error text of the last failed navigation of a page, with the reason. */
const failed = new WeakMap<Page, string>()

/** Starts to record failed navigations. */
export function watchFailures(context: BrowserContext, failures: Failures): void {
  known.set(context, failures)
  context.on('requestfailed', (request) => {
    const page = request.isNavigationRequest() ? pageOf(request) : null
    if (page) failed.set(page, failureText(context, request))
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
  const reason = page && failed.get(page)
  if (!reason || !(thrown instanceof Error) || !byProxy.test(thrown.message)) return thrown
  return Object.assign(new Error(thrown.message.replace(byProxy, reason), { cause: thrown }), { name: thrown.name })
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
