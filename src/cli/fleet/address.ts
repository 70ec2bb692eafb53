/** Flags that name the Redis of a fleet, its secret, and the CA of its workers. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

export const fleetParam = {
  name: 'fleet',
  type: 'string',
  required: false,
  description: "URL of the fleet's Redis, such as redis://10.0.0.5:6379; rediss:// for TLS",
} as const satisfies Param

export const secretFileParam = {
  name: 'secret_file',
  type: 'string',
  required: false,
  description: 'file with the secret that gateways and workers share (BAX_SECRET_FILE)',
} as const satisfies Param

export const fleetCaParam = {
  name: 'fleet_ca',
  type: 'string',
  required: false,
  description: 'PEM file with the CA of the certificates of workers, trusted instead of public CAs',
} as const satisfies Param

/** Returns the URL if it may be one of Redis. @throws BaxError `invalid_request`, without the password of the URL */
export function checkedFleetUrl(text: string): string {
  const url = parseUrl(text)
  if (url && /^rediss?:$/.test(url.protocol) && url.hostname !== '') return text
  throw new BaxError(
    'invalid_request',
    `--fleet must be a URL of Redis, not ${JSON.stringify(text.replace(/\/\/.*@/, '//'))}`,
    {
      hint: 'pass for example --fleet redis://10.0.0.5:6379',
    },
  )
}
