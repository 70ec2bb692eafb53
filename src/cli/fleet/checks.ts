/** Checks of a fleet for `bax doctor --fleet`: its Redis, and its workers. */
import { asBaxError } from '../../core/errors/errors.ts'
import { buildId } from '../../core/build-id.ts'
import { version } from '../../core/version.ts'
import type { RedisFacts } from '../../fleet/redis/facts.ts'
import type { Check } from '../checks.ts'

/** Checks Redis, and whether this machine reaches the workers, as gateways do. */
export async function checkFleet(url: string, caFile?: string): Promise<Check[]> {
  try {
    const { redisFacts } = await import('../../fleet/redis/facts.ts')
    return [...checksOf(await redisFacts(url)), ...(await checkWorkers(url, caFile))]
  } catch (thrown) {
    const { message, hint } = asBaxError(thrown)
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
    advice('redis persistence', appendOnly, appendOnly ? 'append-only file' : 'append-only file is off: a crash loses data', 'set "appendonly yes" in the configuration of Redis'),
    advice('redis eviction', evictionPolicy === 'noeviction', evictionPolicy, 'set "maxmemory-policy noeviction": other policies delete keys and crawls when memory is full'),
    advice('redis latency', latencyMs < slowMs, `${latencyMs.toFixed(1)} ms`, 'run Redis in the same network as gateways and workers'),
    advice('redis clock', !isSkewed, isSkewed ? skew : 'the same as of this machine', 'synchronize the clocks with NTP, for example with chrony'),
  ] // prettier-ignore
}

/** @throws BaxError `invalid_request` for an unusable CA file, `fleet_unavailable` */
async function checkWorkers(url: string, caFile: string | undefined): Promise<Check[]> {
  const [{ connectRedis }, { openDirectory }, { WorkerRequests }, { whyUnreachable }, { readCa }] = await Promise.all([
    import('../../fleet/redis/connect.ts'),
    import('../../fleet/directory/directory.ts'),
    import('../../server/gateway/worker-requests.ts'),
    import('../../server/gateway/reach.ts'),
    import('../../server/access/tls-files.ts'),
  ])
  const ca = caFile === undefined ? undefined : readCa(caFile)
  const redis = await connectRedis({ url, log: () => {} })
  const directory = openDirectory({ redis, build: buildId(), version, reapMs: 0 })
  const requests = new WorkerRequests(directory, ca)
  try {
    return await Promise.all(
      (await directory.workers()).map(async (worker) => {
        const problem = await whyUnreachable(requests, worker)
        const found = `${worker.id} at ${worker.url}`
        const mend = 'run this on a gateway; workers need an address that gateways reach, see --advertise'
        return advice(`worker ${worker.name ?? ''}`.trim(), problem === null, problem === null ? found : `${found}: ${problem}`, mend) // prettier-ignore
      }),
    )
  } finally {
    requests.close()
    directory.close()
    redis.disconnect()
  }
}

const advice = (name: string, ok: boolean, found: string, mend: string): Check => ({
  name,
  needed: false,
  ok,
  found,
  ...(!ok && { mend }),
})
