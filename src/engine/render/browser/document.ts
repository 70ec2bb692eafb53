/** Documents in a tab: CDP events about them, the last one requested, and the error if it failed to load. */
import { BaxError } from '../../../core/errors/errors.ts'
import { unresolvedHost } from '../../../core/errors/unresolved-host.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import { type Failures, proxyErrorIn } from '../../egress/failures.ts'
import type { PageResponse } from '../http/fetch.ts'
import { ResponseHeaders } from '../../egress/response-headers.ts'

export class RequestedDocument {
  readonly id: string
  readonly url: string
  readonly #isRedirected: boolean
  #failure = ''

  constructor(event?: RequestWillBeSent) {
    this.id = event?.requestId ?? ''
    this.url = event?.request.url ?? ''
    this.#isRedirected = event?.redirectResponse !== undefined
  }

  ended(requestId: string, failure = ''): void {
    if (requestId === this.id) this.#failure = failure
  }

  /** Whether the connection was lost after a part of the document had arrived, which browsers show without a load event. */
  get isCut(): boolean {
    return /CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED|CONTENT_DECODING|CONNECTION_|HTTP2_|QUIC_/.test(this.#failure)
  }

  /** Returns the error when the browser shows an error page; undefined for responses without a body. */
  error(failures: Failures, failure = this.#failure): BaxError | undefined {
    if (failure === '' || /HTTP_RESPONSE_CODE_FAILURE/.test(failure)) return undefined
    const host = this.#isRedirected ? undefined : parseUrl(this.url)?.hostname
    return navigationError(failures.explain(failure, this.url), host)
  }
}

/** Converts a failed navigation (`net::ERR_…`) to a BaxError; `host` is that of the URL that the caller has named. */
export function navigationError(text: string, host?: string): BaxError {
  const name = text.replace(/^net::/, '')
  const ofProxy = proxyErrorIn(name)
  if (ofProxy) return ofProxy
  if (/NAME_NOT_RESOLVED|NAME_RESOLUTION_FAILED|ICANN_NAME_COLLISION|DNS_/.test(name)) return unresolvedHost(host, name)
  if (/TOO_MANY_REDIRECTS/.test(name)) return new BaxError('too_many_redirects', 'the page redirects too many times')
  if (/CERT|SSL|TLS/.test(name)) return new BaxError('tls_error', `the secure connection failed: ${readableName(name)}`)
  if (/UNKNOWN_URL_SCHEME|UNSAFE_PORT|UNSAFE_REDIRECT|BLOCKED_BY|DISALLOWED_URL/.test(name))
    return new BaxError('url_blocked', 'URL blocked')
  if (name === 'ERR_ABORTED')
    return new BaxError('navigation_aborted', 'the page was not opened: it is a download, or empty')
  if (/TIMED_OUT/.test(name)) return new BaxError('connection_failed', 'the host does not answer')
  return new BaxError('connection_failed', `the connection failed: ${readableName(name)}`)
}

const readableName = (name: string): string => name.replace(/^ERR_/, '').replaceAll('_', ' ').toLowerCase()

/** Frame in `Page.frameNavigated`. */
export interface Frame {
  readonly parentId?: string
  readonly loaderId: string
  readonly unreachableUrl?: string
  readonly securityOrigin: string
}

/** Parameters of `Network.requestWillBeSent`. */
export type RequestWillBeSent = {
  readonly requestId: string
  readonly type: string
  readonly frameId: string
  readonly loaderId: string
  readonly request: { readonly url: string; readonly initialPriority?: string }
  readonly redirectResponse?: { readonly url: string; readonly status: number }
}

export interface ExceptionDetails {
  readonly text: string
  readonly exception?: { readonly description?: string; readonly value?: unknown }
}

export const exceptionText = ({ text, exception }: ExceptionDetails): string =>
  exception?.description?.split('\n')[0] ??
  (exception?.value === undefined ? text : `threw ${JSON.stringify(exception.value)}`)

export interface DocumentResponse extends Omit<PageResponse, 'redirects'> {
  readonly requestId: string
  readonly mimeType: string
}

/** Reads the parameters of `Network.responseReceived`. */
export function documentResponse(params: Record<string, unknown>): DocumentResponse {
  const { url, status, headers, mimeType } = params['response'] as {
    url: string
    status: number
    headers: Record<string, string>
    mimeType: string
  }
  // Chromium joins values of repeated headers with line feeds.
  const allHeaders = new ResponseHeaders(
    Object.entries(headers).flatMap(([name, value]) => value.split('\n').map((one) => [name, one] as const)),
  )
  return { requestId: params['requestId'] as string, url, status, headers: allHeaders, mimeType }
}

export const isPage = (answer: DocumentResponse | undefined): boolean =>
  answer === undefined || /^(?:text\/html|application\/xhtml\+xml)$/i.test(answer.mimeType)

export const isAttachment = ({ headers }: DocumentResponse): boolean =>
  /^\s*attachment/i.test(headers.get('content-disposition') ?? '')

/** Types of requests that are waited for. */
const watchedTypes = new Set(['Script', 'XHR', 'Fetch'])

/** Returns whether a request is waited for; image checks, for example, have low priority. */
export const isWatched = ({ type, request: { initialPriority = '' } }: RequestWillBeSent): boolean =>
  watchedTypes.has(type) && !(type === 'Fetch' && /low$/i.test(initialPriority))
