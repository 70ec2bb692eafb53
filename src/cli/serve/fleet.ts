/** Flags and connections that `bax serve --fleet` and `bax worker` share. */
import { resolve } from 'node:path'
import { buildId } from '../../core/build-id.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { version } from '../../core/version.ts'
import type { Io } from '../io.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

export interface FleetAccess {
  /** Address of Redis. */
  readonly url: string
  readonly secretFile: string
  /** File with the CA of the certificates of workers; for gateways. */
  readonly caFile?: string | undefined
}

/**
 * Returns the fleet of the flags or the environment; undefined without one.
 * @throws BaxError `invalid_request` if a flag needs another one, or the URL is not one of Redis
 */
export function fleetAccess(
  flags: Partial<FleetAccess>,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): FleetAccess | undefined {
  const url = flags.url ?? (env['BAX_FLEET'] || undefined)
  const secretFile = flags.secretFile ?? (env['BAX_SECRET_FILE'] || undefined)
  const { caFile } = flags
  if (url === undefined) {
    assertFleetFlags(flags)
    return undefined
  }
  if (!/^rediss?:$/.test(parseUrl(url)?.protocol ?? '')) {
    throw new BaxError('invalid_request', '--fleet must be the URL of a Redis', {
      hint: 'pass for example --fleet redis://10.0.0.5:6379',
    })
  }
  if (secretFile === undefined) {
    throw new BaxError('invalid_request', 'a fleet needs a secret that its gateways and workers share', {
      hint: 'pass --secret-file FILE, created with "openssl rand -base64 48 > FILE"',
    })
  }
  return { url, secretFile: resolve(cwd, secretFile), ...(caFile !== undefined && { caFile: resolve(cwd, caFile) }) }
}

/** @throws BaxError `invalid_request` naming a flag that has no effect without a fleet */
export function assertFleetFlags({ url, secretFile, caFile }: Partial<FleetAccess>): void {
  const given = secretFile === undefined ? caFile && '--fleet-ca' : '--secret-file'
  if (url === undefined && given !== undefined)
    throw new BaxError('invalid_request', `${given} needs --fleet`, { hint: 'pass --fleet redis://HOST:PORT' })
}

/**
 * Connects to the fleet; `close` ends the connection.
 * @throws BaxError `fleet_unavailable`, `invalid_request` for an unusable secret file, or a secret of another fleet
 */
export async function openFleet({ url, secretFile }: FleetAccess, log: Log) {
  const [
    { connectRedis },
    { warnIfNotAppendOnly },
    { SecretClaim },
    { ForwardedRequests },
    { readSecretFile },
    { workerChannel },
  ] = await Promise.all([
    import('../../fleet/redis/connect.ts'),
    import('../../fleet/redis/facts.ts'),
    import('../../fleet/directory/secret-claim.ts'),
    import('../../server/access/signed-caller.ts'),
    import('../../server/access/secret-file.ts'),
    import('../../server/access/fleet-channel.ts'),
  ])
  const secret = readSecretFile(secretFile, log)
  const forwarded = new ForwardedRequests(secret)
  const redis = await connectRedis({ url, log })
  try {
    await warnIfNotAppendOnly(redis, log)
    const claim = await SecretClaim.begin({ redis, secret, log })
    const close = () => {
      claim.close()
      redis.disconnect()
    }
    const channel = () => workerChannel(secret)
    const identityKey = secret.toString('base64')
    return { redis, channel, forwarded, secret, identityKey, claim, build: buildId(), version, close }
  } catch (error) {
    redis.disconnect()
    throw error
  }
}
