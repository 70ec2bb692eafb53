/** Headers and bodies of one request, read from the browser within limits. */
import { isUtf8 } from 'node:buffer'
import type { Request, Response } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { type LoggedRequest, summaryOf } from './request-log.ts'

/** Returns everything known about a request; bodies have at most `maxBytes`. */
export async function detailsOf(
  logged: LoggedRequest,
  maxBytes: number,
  isListed: (request: Request) => boolean,
): Promise<Record<string, unknown>> {
  const { request, response } = logged
  const posted = request.postDataBuffer()
  const redirectedFrom = request.redirectedFrom()
  const [requestHeaders, responseHeaders, body] = await Promise.all([
    headersOf(request),
    response ? headersOf(response) : null,
    bodyOf(logged, maxBytes),
  ])
  return {
    ...summaryOf(logged),
    url: request.url().slice(0, limits.input.urlChars),
    ...(response && { status_text: response.statusText(), from_service_worker: response.fromServiceWorker() }),
    ...(redirectedFrom && isListed(redirectedFrom) && { redirected_from: redirectedFrom.url() }),
    request_headers: requestHeaders,
    request_body: posted === null ? null : shownBody(posted, requestHeaders['content-type'], maxBytes),
    ...(posted === null && Number(requestHeaders['content-length']) > 0 && { request_body_missing: tooLarge }),
    response_headers: responseHeaders,
    ...body,
  }
}

const tooLarge = 'it is too large to be kept, or a stream'

/** Returns the headers as sent, or those known to the page when the browser does not report them in time. */
const headersOf = (of: Request | Response): Promise<Record<string, string>> =>
  withDeadline(of.allHeaders(), { ms: limits.network.detailsMs }).catch(() => of.headers())

async function bodyOf({ response, error, endedAfterMs }: LoggedRequest, maxBytes: number) {
  const missing = (reason: string) => ({ response_body: null, body_missing: reason })
  if (!response) return missing(error === undefined ? 'the response has not arrived' : 'the request failed')
  if (endedAfterMs === undefined) return missing('the response is still loading')
  if (response.status() >= 300 && response.status() < 400) return missing('a redirect has no body')
  try {
    const bytes = await withDeadline(response.body(), { ms: limits.network.detailsMs })
    return { response_body: shownBody(bytes, response.headers()['content-type'], maxBytes) }
  } catch (thrown) {
    if (thrown instanceof BaxError)
      return missing(`the browser did not deliver it within ${limits.network.detailsMs} ms`)
    // The browser drops bodies after a navigation and when they use too much memory.
    return missing('the browser no longer has it')
  }
}

/** Returns a body as text if it is one, else as base64. */
function shownBody(bytes: Buffer, contentType: string | undefined, maxBytes: number) {
  const isText = isUtf8(bytes) && !bytes.includes(0)
  const kept = bytes.subarray(0, maxBytes)
  // A character that was cut in half is dropped.
  const content = isText
    ? { text: new TextDecoder().decode(kept, { stream: true }) }
    : { base64: kept.toString('base64') }
  return {
    ...content,
    ...(contentType !== undefined && { content_type: contentType }),
    bytes: bytes.length,
    truncated: kept.length < bytes.length,
  }
}
