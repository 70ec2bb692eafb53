/** Access rules of `bax serve`: other machines need an API key, web pages an allowed origin. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Keys } from '../../core/access/keys.ts'

/** Returns a host without the brackets of an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** @throws BaxError `invalid_request` if other machines can connect and there is no active API key */
export async function assertGuarded(host: string, keys: Keys): Promise<void> {
  if (isLoopback(host) || (await keys.list()).some(({ status }) => status === 'active')) return
  throw new BaxError(
    'invalid_request',
    `serving on ${host} needs an API key: without one only loopback addresses are allowed`,
    {
      hint: 'run "bax key create NAME" first',
    },
  )
}

/** Parses origins. @throws BaxError `invalid_request` for other values, such as a URL with a path */
export function originsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.map((text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url && url.origin !== 'null' && /^https?:$/.test(url.protocol) && text.replace(/\/$/, '').toLowerCase() === url.origin) return url.origin // prettier-ignore
      throw new BaxError('invalid_request', `--allow-origin must be an origin, not ${JSON.stringify(text)}`, {
        hint: 'pass only scheme, host and port: --allow-origin https://app.example.com',
      })
    }),
  )
}
