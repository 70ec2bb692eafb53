/** Errors of proxies, which name them without their password. */
import { BaxError } from '../../core/errors/errors.ts'

/** Returns the error. `reason` is a predicate of the proxy: `refused the connection`. */
export const proxyFailed = (name: string, reason: string, cause?: unknown): BaxError =>
  new BaxError('proxy_failed', `${name} ${reason}`, { cause, hint: proxyHint(name) })

/** Returns the hint for a sentence about a proxy; those of the environment have the name of their variable. */
export const proxyHint = (sentence: string): string =>
  / of [a-z]+_proxy\b/i.test(sentence)
    ? 'check the proxy, add the host to NO_PROXY, or start the engine with --no-proxy'
    : 'check the proxy, or use another one'

/** Says why a proxy did not open a tunnel. */
export const statusWords = (status: number): string =>
  status === 407 ? 'rejected the user name or the password' : `responded with status ${status}`
