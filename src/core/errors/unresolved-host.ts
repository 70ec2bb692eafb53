/** The error of a host name without an address. */
import { BaxError } from './errors.ts'

/**
 * Builds the error. `host` is absent where the caller must not learn it: a redirect can lead to an internal one. `code`
 * is that of the browser or the resolver, such as `ERR_NAME_NOT_RESOLVED`.
 */
export function unresolvedHost(host: string | undefined, code: string, cause?: unknown): BaxError {
  const named = host === undefined ? 'a host name' : `the host name ${host}`
  return new BaxError('dns_failed', `${named} could not be resolved (${code})`, {
    hint: 'check the host name and the network connection; where the web is reached through a proxy, set HTTPS_PROXY and HTTP_PROXY, or open a session with proxy',
    details: { ...(host !== undefined && { host }), reason: code },
    cause,
  })
}
