/** Holds navigations with a body, such as submitted forms, until a person approves them. */
import type { BrowserContext, Request } from 'playwright'
import type { RouteAction } from '../../../core/operation/page-control.ts'
import { routesOf } from '../network/routes.ts'
import { pageOf } from '../page/net-reason.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { isGone } from '../page/playwright-errors.ts'
import type { Approvals } from './approvals.ts'
import { pageLeft } from './shown-document.ts'

/**
 * Intercepts every request in the browser, where neither scripts of the page nor routes of the session bypass it.
 * Requests of scripts (`fetch`) are not navigations, and are not held.
 */
export const holdSubmissions = (context: BrowserContext, approvals: Approvals): Promise<void> =>
  routesOf(context).guard(async (route, request, action) => {
    if (!isSubmission(request)) return true
    if (await isApproved(context, request, action, approvals)) return true
    // The page or the session may have ended meanwhile.
    await route.abort('aborted').catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
    return false
  })

const isSubmission = (request: Request): boolean =>
  request.isNavigationRequest() && !/^(?:GET|HEAD)$/i.test(request.method())

async function isApproved(
  context: BrowserContext,
  request: Request,
  action: RouteAction | undefined,
  approvals: Approvals,
): Promise<boolean> {
  const given = new AbortController()
  const onFailed = (failed: Request) => {
    if (failed === request) given.abort(pageLeft())
  }
  context.on('requestfailed', onFailed)
  const page = pageOf(request)?.url()
  const summary = `${request.method()} ${shownUrl(request.url())}${redirectOf(action)}`
  try {
    await approvals.ask({ kind: 'submit', summary, url: shownUrl(page ?? '') }, [given.signal])
    return true
  } catch {
    // The command has the error. The page stays open.
    return false
  } finally {
    context.off('requestfailed', onFailed)
  }
}

/** Describes a redirect by a route of the session, which sends the body to another place. */
function redirectOf(action: RouteAction | undefined): string {
  if (action?.kind !== 'fulfil') return ''
  const to = Object.entries(action.headers).find(([name]) => name.toLowerCase() === 'location')?.[1]
  return to === undefined ? '' : `, redirected to ${shownUrl(to)}`
}
