/** Records what happens on the pages of a context as session events; core/shapes/events.ts documents their data. */
import type { BrowserContext, Download, Page, Request } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { failureText, pageOf } from '../page/net-reason.ts'
import { tabIdOf } from './tab-ids.ts'
import { oncePer } from '../../../core/once-per.ts'
import { requestLogOf } from '../network/request-log.ts'
import { privacyOf } from '../privacy/privacy.ts'

const textChars = 10_000
const urlChars = 2000
/** Maximum length of HTTP methods and content types, which a page or its server can choose freely. */
const nameChars = 200
/** Time in which an aborted navigation may turn out to be a download. */
export const maybeDownloadMs = 250

/** Records page events; none of them needs a further call to the browser. */
export function recordPageEvents(context: BrowserContext, events: EventLog): void {
  context.on('framenavigated', (frame) => {
    if (frame.parentFrame() !== null) return
    events.emit('page.navigated', { tab_id: tabIdOf(frame.page()), url: shownUrl(frame.url()) })
  })
  context.on('pageload', (page) => {
    events.emit('page.loaded', { tab_id: tabIdOf(page), url: shownUrl(page.url()) })
  })
  context.on('weberror', (webError) => {
    const error = webError.error()
    const message = String(error?.message ?? error).slice(0, textChars)
    events.emit('page.error', { ...tabOf(webError.page()), message })
  })
  context.on('console', (message) => {
    const { url, lineNumber } = message.location()
    events.emit('console', {
      ...tabOf(message.page()),
      level: message.type(),
      text: message.text().slice(0, textChars),
      ...(url && { url: shownUrl(url), line: lineNumber + 1 }),
    })
  })
  recordRequests(context, events)
}

/** Reports file choosers, which the browser then does not open; not for browsers whose user has to see them. */
export function reportFileChoosers(page: Page, events: EventLog): void {
  page.on('filechooser', (chooser) => {
    events.emit('file_chooser.opened', { tab_id: tabIdOf(page), multiple: chooser.isMultiple() })
  })
}

function recordRequests(context: BrowserContext, events: EventLog): void {
  /** Requests whose response has a body, and so may be a download. */
  const bodies = new WeakSet<Request>()
  const log = requestLogOf(context)
  let count = 0
  const privacy = privacyOf(context)
  const factsOf = oncePer((request: Request) => ({
    request_id: `${++count}`,
    ...tabOf(pageOf(request)),
    method: request.method().slice(0, nameChars),
    url: privacy.redact(shownUrl(request.url())),
    resource_type: request.resourceType(),
  }))
  context.on('request', (request) => {
    const facts = factsOf(request)
    // Requests during a handoff are not listed.
    if (!privacy.active) log.add(facts, request)
    const from = request.redirectedFrom()
    events.emit('network.request', { ...facts, ...(from && { redirected_from: factsOf(from).request_id }) })
  })
  context.on('requestfinished', (request) => log.end(factsOf(request)))
  context.on('response', (response) => {
    log.respond(factsOf(response.request()), response)
    if (![204, 205].includes(response.status())) bodies.add(response.request())
    const type = response.headers()['content-type']
    events.emit('network.response', {
      ...factsOf(response.request()),
      status: response.status(),
      ...(type && { content_type: type.slice(0, nameChars) }),
    })
  })
  context.on('requestfailed', (request) => {
    const error = failureText(context, request)
    log.end(factsOf(request), error)
    const report = () => events.emit('network.failed', { ...factsOf(request), error, ...reasonOf(error) })
    if (!/ERR_ABORTED/.test(error) || !request.isNavigationRequest() || !bodies.has(request)) return report()
    // The browser aborts the navigation of a download after the response, and reports the download right after.
    const isSame = (download: Download) => download.url() === request.url()
    context.waitForEvent('download', { predicate: isSame, timeout: maybeDownloadMs }).catch(report)
  })
}

/** Errors of requests that a rule of the engine or of the browser has blocked. */
const blocked = /^URL blocked$|ERR_BLOCKED_BY_ADMINISTRATOR|ERR_UNSAFE_PORT|ERR_DISALLOWED_URL_SCHEME/

const reasonOf = (error: string) =>
  blocked.test(error) ? { reason: 'blocked' as const, code: 'url_blocked' as const } : {}

const tabOf = (page: Page | null): { tab_id?: string } => (page ? { tab_id: tabIdOf(page) } : {})

/** Truncates a URL, which may contain a whole file (`data:`), and removes passwords and tokens. */
export function shownUrl(url: string): string {
  const cut = url.length > urlChars ? `${url.slice(0, urlChars)}…` : url
  return cut
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, '$1')
    .replaceAll(/([?&#](?:access_|frame_)?token=)[^&#]+/gi, '$1[redacted]')
}
