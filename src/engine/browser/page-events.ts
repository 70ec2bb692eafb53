/** What happens on the pages of a context, as events of its session. */
import type { BrowserContext, Request } from 'playwright'
import type { EventLog } from '../../core/events.ts'

const textChars = 10_000
const urlChars = 2000

export function recordPageEvents(context: BrowserContext, events: EventLog): void {
  context.on('framenavigated', (frame) => {
    if (frame.parentFrame() === null) events.emit('page.navigated', { url: shown(frame.url()) })
  })
  context.on('pageload', (page) => events.emit('page.loaded', { url: shown(page.url()) }))
  context.on('weberror', (fault) => {
    const error = fault.error()
    events.emit('page.error', { message: String(error?.message ?? error).slice(0, textChars) })
  })
  context.on('console', (message) => {
    const { url, lineNumber } = message.location()
    events.emit('console', {
      level: message.type(),
      text: message.text().slice(0, textChars),
      ...(url && { url: shown(url), line: lineNumber + 1 }),
    })
  })
  context.on('request', (request) => events.emit('network.request', factsOf(request)))
  context.on('response', (response) => {
    events.emit('network.response', { ...factsOf(response.request()), status: response.status() })
  })
  context.on('requestfailed', (request) => {
    events.emit('network.failed', { ...factsOf(request), error: request.failure()?.errorText ?? 'failed' })
  })
}

const factsOf = (request: Request) => ({
  url: shown(request.url()),
  method: request.method(),
  resource_type: request.resourceType(),
})

/** Addresses may hold whole files (`data:`). */
const shown = (url: string): string => (url.length > urlChars ? `${url.slice(0, urlChars)}…` : url)
