/** Requests to services that the operator has set up: search providers and language models. */
import { Readable } from 'node:stream'
import type { ProxySettings } from '../../core/config/proxy-settings.ts'
import { environmentProxies, type UpstreamProxy } from './environment-proxies.ts'
import { isReset } from './fetch-errors.ts'
import { proxyFailed, statusWords } from './proxy-failure.ts'

interface OperatorRequest {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly redirect: 'manual' | 'error'
  readonly signal: AbortSignal
}

/** Sends a request as `fetch` does, or through the proxy of its URL; redirects are not followed then. */
export async function operatorFetch(
  url: URL,
  init: OperatorRequest,
  proxies: ProxySettings | undefined,
): Promise<Response> {
  const proxy = proxies && environmentProxies(proxies)(url)
  if (proxy) return fetchThrough(proxy, url, init)
  try {
    return await fetch(url, init)
  } catch (error) {
    // Servers may close an idle connection just as it is reused.
    if (!isReset(error) || init.signal.aborted) throw error
    return fetch(url, init)
  }
}

async function fetchThrough(
  proxy: UpstreamProxy,
  url: URL,
  { method = 'GET', headers, body, signal }: OperatorRequest,
): Promise<Response> {
  const [{ through }, client] = await Promise.all([
    import('./through-proxy.ts'),
    url.protocol === 'https:' ? import('node:https') : import('node:http'),
  ])
  const { headers: more, isForwarded, ...route } = through(proxy, url, { fresh: true })
  return new Promise((resolve, reject) => {
    const plain = { 'accept-encoding': 'identity', ...headers, ...more }
    const request = client.request(url, { method, headers: plain, signal, ...route })
    request.once('error', reject)
    request.once('response', (response) => {
      const { statusCode: status = 0, headers: received } = response
      const fail = (error: Error) => {
        response.destroy()
        reject(error)
      }
      if (status === 407 && isForwarded) return fail(proxyFailed(proxy.name, statusWords(status)))
      // A `Response` cannot have it.
      if (status < 200 || status > 599) return fail(new Error(`the status ${status} is invalid`))
      const pairs = Object.entries(received).flatMap(([name, value]) =>
        [value ?? []].flat().map((one) => [name, one] as [string, string]),
      )
      const isEmpty = [204, 205, 304].includes(status)
      if (isEmpty) response.resume()
      resolve(new Response(isEmpty ? null : (Readable.toWeb(response) as ReadableStream), { status, headers: pairs }))
    })
    request.end(body)
  })
}
