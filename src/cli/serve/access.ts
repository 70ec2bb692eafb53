/** Who may reach `bax serve`: addresses of other machines only where keys are asked for, web pages only by name. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Keys } from '../../core/access/keys.ts'

/** The host as a socket takes it, without the brackets of an address. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** @throws BaxError `invalid_request` for an address that other machines reach, while no key is good. */
export async function assertGuarded(host: string, keys: Keys): Promise<void> {
  if (isLoopback(host) || (await keys.list()).some(({ status }) => status === 'active')) return
  throw new BaxError('invalid_request', `without a key bax serves loopback addresses only, not ${host}`, {
    hint: 'make one first: bax key create NAME',
  })
}

/** @throws BaxError `invalid_request` for what is no origin, such as an address with a path. */
export function originsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.map((text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url && url.origin !== 'null' && /^https?:$/.test(url.protocol) && text.replace(/\/$/, '').toLowerCase() === url.origin) return url.origin // prettier-ignore
      throw new BaxError('invalid_request', `--allow-origin must be an origin, not ${JSON.stringify(text)}`, {
        hint: 'scheme, host and port alone: --allow-origin https://app.example.com',
      })
    }),
  )
}
