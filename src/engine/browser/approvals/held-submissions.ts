/** Holds navigations with a body, such as submitted forms, until a person approves them. */
import type { BrowserContext, Request, Route } from 'playwright'
import { isGone } from '../batch/playwright-errors.ts'
import { pageOf } from '../tabs/net-reason.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { type Approvals, pageLeft } from './approvals.ts'

/**
 * Intercepts every request in the browser, where scripts of the page cannot bypass it. Requests of scripts (`fetch`) are
 * not navigations, and are not held.
 */
export async function holdSubmissions(context: BrowserContext, approvals: Approvals): Promise<void> {
  await context.route(
    () => true,
    async (route, request) => {
      if (!isSubmission(request)) return route.fallback()
      await hold(context, route, request, approvals).catch((error: unknown) => {
        // The page or the session may have ended meanwhile.
        if (!isGone(error)) throw error
      })
    },
  )
}

const isSubmission = (request: Request): boolean =>
  request.isNavigationRequest() && !/^(?:GET|HEAD)$/i.test(request.method())

async function hold(context: BrowserContext, route: Route, request: Request, approvals: Approvals): Promise<void> {
  const given = new AbortController()
  const onFailed = (failed: Request) => {
    if (failed === request) given.abort(pageLeft())
  }
  context.on('requestfailed', onFailed)
  const page = pageOf(request)?.url()
  const action = {
    kind: 'submit',
    summary: `${request.method()} ${shownUrl(request.url())}`,
    url: shownUrl(page ?? ''),
  } as const
  try {
    await approvals.ask(action, [given.signal])
  } catch {
    // The command has the error. The page stays open.
    return await route.abort('aborted')
  } finally {
    context.off('requestfailed', onFailed)
  }
  await route.fallback()
}
