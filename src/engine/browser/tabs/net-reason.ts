/** Why a page could not be opened, when all that the browser knows is that its proxy made no connection. */
import type { BrowserContext, Page, Request } from 'playwright'
import type { Failures } from '../../egress/failures.ts'

const known = new WeakMap<BrowserContext, Failures>()
/** The browser's text of the last navigation of a page that failed, with its reason. */
const failed = new WeakMap<Page, string>()

/** Begins to note what becomes of navigations. */
export function watchFailures(context: BrowserContext, failures: Failures): void {
  known.set(context, failures)
  context.on('requestfailed', (request) => {
    const page = request.isNavigationRequest() ? pageOf(request) : null
    if (page) failed.set(page, failureText(context, request))
  })
}

/** Why a request failed, in the browser's words (`net::ERR_NAME_NOT_RESOLVED`), or `URL blocked`. */
export function failureText(context: BrowserContext, request: Request): string {
  const text = request.failure()?.errorText ?? 'failed'
  const reason = known.get(context)?.explain(text, request.url()) ?? text
  return /ERR_BLOCKED_BY_CLIENT/.test(reason) ? 'URL blocked' : reason
}

/** The error of a navigation with its reason in place of the proxy's refusal. */
export function withReason(thrown: unknown, page: Page | undefined): unknown {
  const reason = page && failed.get(page)
  if (!reason || !(thrown instanceof Error) || !byProxy.test(thrown.message)) return thrown
  return Object.assign(new Error(thrown.message.replace(byProxy, reason), { cause: thrown }), { name: thrown.name })
}

const byProxy = /net::ERR_(?:SOCKS_|TUNNEL_|EMPTY_RESPONSE|CONNECTION_RESET)\w*/

/** The page of a request; none for a service worker's, and for those that a page makes before it has a frame. */
export function pageOf(request: Request): Page | null {
  try {
    return request.serviceWorker() ? null : request.frame().page()
  } catch {
    return null
  }
}
