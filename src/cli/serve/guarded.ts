/** Decides whether `bax serve` may start without an API key. */
import type { Keys } from '../../core/access/keys.ts'
import { BaxError } from '../../core/errors/errors.ts'

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * `needsKeys` also guards loopback addresses: a fleet that lost its data must not answer without a key.
 * @throws BaxError `invalid_request` if there is no active API key where one is needed
 */
export async function assertGuarded(host: string, keys: Keys, needsKeys: boolean): Promise<void> {
  const isLocal = isLoopback(host)
  if (isLocal && !needsKeys) return
  if ((await keys.list()).some(({ status }) => status === 'active')) return
  if (!isLocal) throw unguarded(host)
  throw new BaxError('invalid_request', 'the fleet has no active API key', {
    hint: 'run "bax key create NAME --scopes admin --embedded" and "bax fleet import --fleet URL", or pass --no-keys',
  })
}

const unguarded = (host: string): BaxError =>
  new BaxError(
    'invalid_request',
    `serving on ${host} needs an API key: without one only loopback addresses are allowed`,
    { hint: 'run "bax key create NAME" first' },
  )

export const needsFleet = (): BaxError =>
  new BaxError('invalid_request', '--no-keys needs --fleet', {
    hint: 'without a fleet, a loopback address needs no key until you create one',
  })
