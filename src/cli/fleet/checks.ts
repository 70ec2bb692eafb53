/** Checks of a fleet for `bax doctor --fleet`: its Redis, and its workers. */
import type { Redis } from 'ioredis'
import { asBaxError } from '../../core/errors/errors.ts'
import { buildId } from '../../core/build-id.ts'
import { notAppendOnly, type WorkerRecord } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { version } from '../../core/version.ts'
import type { Build } from '../../fleet/directory/builds.ts'
import type { RedisFacts } from '../../fleet/redis/facts.ts'
import type { Check } from '../checks.ts'
import type { FleetAccess } from '../serve/fleet.ts'

/** A fleet to check. The check whether workers trust gateways needs the file with the secret. */
export type CheckedFleet = Pick<FleetAccess, 'url' | 'caFile'> & Partial<Pick<FleetAccess, 'secretFile'>>

/**
 * Checks Redis, and whether this machine can use the workers, as gateways do.
 * @throws BaxError `invalid_request` for an unusable file with the CA or the secret
 */
export async function checkFleet(fleet: CheckedFleet): Promise<Check[]> {
  try {
    const { redisFacts } = await import('../../fleet/redis/facts.ts')
    return [...checksOf(await redisFacts(fleet.url)), ...(await checkMembers(fleet))]
  } catch (thrown) {
    const { code, message, hint } = asBaxError(thrown)
    // The file of a flag is unusable.
    if (code === 'invalid_request') throw thrown
    return [{ name: 'redis', needed: true, ok: false, found: message, ...(hint !== undefined && { mend: hint }) }]
  }
}

/** Round trip from which every request through a gateway becomes noticeably slower, in milliseconds. */
const slowMs = 10

/** Difference of clocks that may make workers refuse requests of gateways, in milliseconds. */
const skewedMs = 2000

export function checksOf({
  address,
  version,
  appendOnly,
  evictionPolicy,
  latencyMs,
  clockAheadMs,
}: RedisFacts): Check[] {
  const skew = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine`
  const isSkewed = Math.abs(clockAheadMs) >= skewedMs
  return [
    { name: 'redis', needed: true, ok: true, found: `${version} at ${address}` },
    advice('redis persistence', appendOnly, appendOnly ? 'append-only file' : notAppendOnly.found, notAppendOnly.mend),
    advice(
      'redis eviction',
      evictionPolicy === 'noeviction',
      evictionPolicy,
      'set "maxmemory-policy noeviction": other policies delete keys and crawls when memory is full',
    ),
    advice(
      'redis latency',
      latencyMs < slowMs,
      `${latencyMs.toFixed(1)} ms`,
      'run Redis in the same network as gateways and workers',
    ),
    advice(
      'redis clock',
      !isSkewed,
      isSkewed ? skew : 'the same as of this machine',
      'synchronize the clocks with NTP, for example with chrony',
    ),
  ]
}

/** @throws BaxError `invalid_request` for an unusable file, `fleet_unavailable` */
async function checkMembers({ url, caFile, secretFile }: CheckedFleet): Promise<Check[]> {
  const [{ connectRedis }, { openDirectory }, { readSecretFile }, { readCa }] = await Promise.all([
    import('../../fleet/redis/connect.ts'),
    import('../../fleet/directory/directory.ts'),
    import('../../server/access/secret-file.ts'),
    import('../../server/access/tls-files.ts'),
  ])
  const ca = caFile === undefined ? undefined : readCa(caFile)
  const secret = secretFile === undefined ? undefined : readSecretFile(secretFile, () => {})
  const redis = await connectRedis({ url, log: () => {} })
  const directory = openDirectory({ redis, build: buildId(), version, reapMs: 0 })
  try {
    const workers = await directory.workers()
    const own = { build: directory.build, skewMs: await directory.skewMs() }
    const checks = await Promise.all([
      checkSecret(redis, secret),
      workers.length > 0 ? checkDifferences(workers, own) : [],
      checkReach(workers, { ca, secret }),
    ])
    return checks.flat()
  } finally {
    directory.close()
    redis.disconnect()
  }
}

async function checkSecret(redis: Redis, secret: Buffer | undefined): Promise<Check> {
  const { isFleetSecret } = await import('../../fleet/directory/secret-claim.ts')
  const name = 'fleet secret'
  if (!secret) return advice(name, false, 'not checked', 'pass --secret-file FILE to check whether workers trust it')
  const isOwn = await isFleetSecret(redis, secret)
  const found = { true: 'that of the fleet', false: 'not that of the fleet', undefined: 'the fleet has none yet' }
  return advice(name, isOwn !== false, found[`${isOwn}`], 'use the same secret file for all gateways and workers')
}

/** Compares the builds and the clocks of the workers with those of this machine. */
async function checkDifferences(
  workers: readonly WorkerRecord[],
  { build, skewMs }: { readonly build: Build; readonly skewMs: number },
): Promise<Check[]> {
  const [{ mixedBuilds }, { skewOf }] = await Promise.all([
    import('../../fleet/directory/builds.ts'),
    import('../../fleet/status.ts'),
  ])
  const builds = mixedBuilds(workers, build, 'this machine')
  const clocks = workers.flatMap((worker) => skewOf(worker, skewMs) ?? [])
  const within = `within ${limits.fleet.skewMs / 1000} s of this machine`
  return [
    advice(
      'fleet builds',
      builds === undefined,
      builds ?? 'the same as on this machine',
      'run the same build everywhere, except during an upgrade',
    ),
    advice(
      'fleet clocks',
      clocks.length === 0,
      clocks.join('; ') || within,
      'synchronize the clocks with NTP, for example with chrony',
    ),
  ]
}

/** Sends every worker a request, signed if there is a secret. */
async function checkReach(
  workers: readonly WorkerRecord[],
  { ca, secret }: { readonly ca: string | undefined; readonly secret: Buffer | undefined },
): Promise<Check[]> {
  const [{ WorkerRequests }, { whyUnreachable }, { ForwardedRequests }] = await Promise.all([
    import('../../server/gateway/worker-requests.ts'),
    import('../../server/gateway/reach.ts'),
    import('../../server/access/signed-caller.ts'),
  ])
  const signer = secret && new ForwardedRequests(secret)
  const requests = new WorkerRequests({ directory: { workers: async () => [...workers] }, ca, secret })
  try {
    return await Promise.all(
      workers.map(async (worker) => {
        const problem = await whyUnreachable(requests, worker, signer)
        const found = `${worker.id} at ${worker.url}`
        const mend = 'run this on a gateway; workers need an address that gateways reach, see --advertise'
        return advice(
          `worker ${worker.name ?? ''}`.trim(),
          problem === null,
          problem === null ? found : `${found}: ${problem}`,
          mend,
        )
      }),
    )
  } finally {
    requests.close()
  }
}

const advice = (name: string, ok: boolean, found: string, mend: string): Check => ({
  name,
  needed: false,
  ok,
  found,
  ...(!ok && { mend }),
})
