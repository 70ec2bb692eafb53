/** Sends one HTTP request, and follows its redirects with the cookies and headers of an identity. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { RequestRules } from '../egress/egress.ts'
import { type HttpResponse, httpUserAgent, request } from '../egress/http-client.ts'
import type { ResponseHeaders } from '../egress/response-headers.ts'
import { readBody } from '../render/http/body.ts'
import type { Decompressed } from '../render/http/decompress.ts'
import { type Redirect, redirectTarget, targetOf, withoutTarget } from '../render/http/fetch.ts'
import type { ReadIdentity } from '../render/identity/identity.ts'

export interface RequestBody {
  readonly bytes: Uint8Array
  /** Content type, unless a header of the caller has another one. */
  readonly type: string
}

export interface Exchange {
  readonly url: string
  readonly method: string
  readonly body: RequestBody | undefined
  readonly maxRedirects: number
  readonly maxBytes: number
  readonly identity: ReadIdentity
  /** Egress rules, which apply to every redirect. */
  readonly egress: RequestRules
  readonly signal: AbortSignal
}

export interface Received extends Decompressed {
  readonly url: string
  readonly status: number
  readonly headers: ResponseHeaders
  readonly redirects: readonly Redirect[]
}

interface Hop extends Pick<Exchange, 'url' | 'method' | 'body'> {
  /** Whether a redirect has dropped the body. */
  readonly lostBody: boolean
}

/** @throws BaxError as `fetchPage` does */
export async function exchange(first: Exchange): Promise<Received> {
  const { identity, maxRedirects } = first
  const redirects: Redirect[] = []
  let hop: Hop = { ...first, lostBody: false }
  for (;;) {
    const { url } = hop
    const response = await sendHop(first, hop, redirects.length === 0)
    identity.received(url, response.headers)
    const next = maxRedirects === 0 ? undefined : redirectTarget(response, url)
    if (next === undefined) {
      const { status, headers } = response
      return { url, status, headers, redirects, ...(await bodyOf(response, hop.method, first)) }
    }
    response.body.destroy()
    redirects.push({ url, status: response.status })
    if (redirects.length > maxRedirects)
      throw new BaxError('too_many_redirects', `the URL redirects more than ${maxRedirects} times`, {
        details: { redirects },
      })
    hop = redirected(hop, response.status, next)
  }
}

/** Returns the request after a redirect: as in browsers, POST becomes GET unless the status forbids it. */
function redirected({ method, body, lostBody }: Hop, status: number, url: string): Hop {
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    (method === 'POST' && (status === 301 || status === 302))
  return becomesGet ? { url, method: 'GET', body: undefined, lostBody: true } : { url, method, body, lostBody }
}

async function sendHop(first: Exchange, hop: Hop, isFirst: boolean): Promise<HttpResponse> {
  const { signal, identity } = first
  const egress = { ...first.egress, identity }
  const { target, authorization } = targetOf(hop.url)
  const { method, body } = hop
  const headers = { ...(authorization && { authorization }), ...headersFor(first, hop) }
  const options = { method, headers, body: body?.bytes, once: true, signal, egress, named: isFirst }
  return request(target, options).catch((error: unknown) => {
    throw isFirst ? error : withoutTarget(error)
  })
}

function headersFor({ url: start, identity }: Exchange, { url, body, lostBody }: Hop): Record<string, string> {
  const own = Object.entries(identity.headersFor(url)).filter(
    ([name]) =>
      !(lostBody && name.startsWith('content-')) &&
      // Other headers may go to subdomains, but these are for one server.
      !(name === 'authorization' && new URL(url).origin !== new URL(start).origin),
  )
  const cookie = identity.cookiesFor(url)
  return {
    'user-agent': identity.userAgent ?? httpUserAgent,
    accept: '*/*',
    'accept-language': identity.acceptLanguage ?? 'en-US,en;q=0.9',
    'accept-encoding': 'gzip, deflate, br',
    ...(body && { 'content-type': body.type }),
    ...Object.fromEntries(own),
    ...(cookie && { cookie }),
    ...(body && { 'content-length': String(body.bytes.length) }),
  }
}

async function bodyOf(
  response: HttpResponse,
  method: string,
  { maxBytes, signal, egress }: Exchange,
): Promise<Decompressed> {
  if (method === 'HEAD' || response.status === 204 || response.status === 304) {
    response.body.destroy()
    return { bytes: new Uint8Array() }
  }
  try {
    return await readBody(response, { signal, from: egress.from ?? null, mostBytes: maxBytes })
  } catch (error) {
    if (!(error instanceof BaxError) || error.code !== 'content_too_large') throw error
    throw new BaxError('content_too_large', `the response is larger than ${maxBytes} bytes`, {
      hint: `raise max_bytes, to at most ${limits.request.maxResponseBytes} (--max-bytes in the terminal)`,
      cause: error,
    })
  }
}
