/** Fetches pages over HTTP: follows and records redirects, limits body sizes, and converts errors. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
import type { RequestRules } from '../../egress/egress.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { readBody } from './body.ts'
import type { Decompressed } from './decompress.ts'
import { httpUserAgent, type HttpResponse, request } from '../../egress/http-client.ts'
import { locationOf, redirectUrl } from './web-url.ts'

export interface Redirect {
  readonly url: string
  readonly status: number
}

/** The response that contained a page. */
export interface PageResponse {
  /** URL after all redirects, with the fragment. */
  readonly url: string
  readonly status: number
  readonly headers: ResponseHeaders
  readonly redirects: readonly Redirect[]
}

/** A page and its decompressed body. */
export interface FetchedPage extends PageResponse, Decompressed {}

export interface FetchOptions {
  /** That of the rendering browser by default. */
  readonly userAgent?: string
  /** Egress rules, which apply to every redirect. */
  readonly egress: RequestRules
  /** Aborted on timeout or when the caller disconnects; its reason is thrown. */
  readonly signal: AbortSignal
  /** Throws if the body of a response with these headers should not be read. */
  readonly checkHeaders?: (headers: ResponseHeaders) => void
  /** Returns the cookies for a URL, in addition to those that redirects set. */
  readonly cookies?: (url: string) => Promise<string>
  readonly redirects?: readonly Redirect[]
  /** Whether Markdown is preferred to HTML. */
  readonly markdown?: boolean | undefined
  /** Headers that make the request conditional; the response is 304 if the condition is not met. */
  readonly condition?: Record<string, string>
}

/**
 * Fetches a page.
 * @throws BaxError dns_failed, connection_failed, tls_error, too_many_redirects, content_too_large or url_blocked
 */
export async function fetchPage(address: string, options: FetchOptions): Promise<FetchedPage> {
  const { signal, egress } = options
  const redirects = [...(options.redirects ?? [])]
  const cookies = new Map<string, Map<string, string>>()
  let url = address
  for (;;) {
    const { identity } = egress
    const known = identity ? identity.cookiesFor(url) : await options.cookies?.(url)
    const cookie = [known ?? '', cookieHeader(cookies, url)].filter(Boolean).join('; ')
    const isFirst = redirects.length === 0
    const response = await requestPage(url, options, { cookie, named: isFirst }).catch((error: unknown) => {
      throw isFirst ? error : withoutTarget(error)
    })
    identity?.received(url, response.headers)
    const next = redirectTarget(response, url)
    if (next === undefined) {
      if (response.status !== 304) options.checkHeaders?.(response.headers)
      const { status } = response
      // Responses may be stored; the identity keeps its cookies itself.
      const headers = identity ? response.headers.without('set-cookie') : response.headers
      return { url, status, headers, redirects, ...(await readBody(response, { signal, from: egress.from ?? null })) }
    }
    response.body.destroy()
    if (!identity) keepCookies(cookies, url, response.headers)
    redirects.push({ url, status: response.status })
    checkRedirects(redirects)
    url = next
  }
}

/** Removes the host from the error of a blocked redirect: a caller learns only hosts that it has named itself. */
export function withoutTarget(error: unknown): unknown {
  if (!(error instanceof BaxError) || error.code !== 'url_blocked') return error
  return new BaxError('url_blocked', 'URL blocked', { cause: error, ...(error.hint && { hint: error.hint }) })
}

/** @throws BaxError `too_many_redirects` */
export function checkRedirects(redirects: readonly Redirect[]): void {
  if (redirects.length <= limits.scrape.redirects) return
  throw new BaxError('too_many_redirects', `the page redirects more than ${limits.scrape.redirects} times`, {
    details: { redirects: [...redirects] },
  })
}

const acceptPage = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const acceptMarkdown = 'text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/xml;q=0.8,*/*;q=0.7'

function requestPage(
  url: string,
  { userAgent = httpUserAgent, signal, egress, condition, markdown }: FetchOptions,
  { cookie, named }: { cookie: string; named: boolean },
) {
  const { target, authorization } = targetOf(url)
  const { identity } = egress
  const headers = {
    'user-agent': identity?.userAgent ?? userAgent,
    accept: markdown ? acceptMarkdown : acceptPage,
    'accept-language': identity?.acceptLanguage ?? 'en-US,en;q=0.9',
    'accept-encoding': 'gzip, deflate, br, zstd',
    ...(authorization && { authorization }),
    ...identity?.headersFor(url),
    ...(cookie && { cookie }),
    ...condition,
  }
  return request(target, { headers, signal, egress, named })
}

/** Returns the URL to request, and the header for the user name and password in it. */
export function targetOf(url: string): { readonly target: URL; readonly authorization?: string } {
  const target = new URL(url)
  const { username, password } = target
  target.username = ''
  target.password = ''
  target.hash = ''
  const credentials = `${decodeUrlPart(username)}:${decodeUrlPart(password)}`
  return {
    target,
    ...(username && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  }
}

const redirectStatuses = new Set([301, 302, 303, 307, 308])

export function redirectTarget({ status, headers }: HttpResponse, url: string): string | undefined {
  const location = redirectStatuses.has(status) ? locationOf(headers) : undefined
  return location === undefined ? undefined : redirectUrl(location, url)
}

/** Keeps cookies set by redirects, which some sites require; they are only sent to the host that set them. */
function keepCookies(jar: Map<string, Map<string, string>>, url: string, headers: ResponseHeaders): void {
  const host = new URL(url).host
  for (const line of headers.all('set-cookie')) {
    const [, name, value = ''] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? []
    if (name === undefined) continue
    const cookies = jar.get(host) ?? new Map<string, string>()
    cookies.set(name, value.trim())
    jar.set(host, cookies)
  }
}

const cookieHeader = (jar: Map<string, Map<string, string>>, url: string): string =>
  [...(jar.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
