/** The parts of `bax worker`: an engine that is registered in the directory of its fleet. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { BoundObjects, WorkerIdentity } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Engine } from '../../core/engine.ts'
import type { Checks } from '../../fleet/worker/capabilities.ts'
import type { Membership } from '../../fleet/worker/membership.ts'
import type { ServedWorker } from '../../server/process/serve.ts'
import { type FleetAccess, openFleet } from './fleet.ts'

export interface WorkerOptions {
  /** Configuration of the engine, without what the fleet provides. */
  readonly config: EngineConfig
  readonly capacity: Pick<WorkerIdentity, 'labels' | 'slots' | 'pages'>
  /** Name for people. */
  readonly name?: string | undefined
  /** URL at which gateways reach it, if it is not the address that it listens on. */
  readonly advertised: string | undefined
  /** Whether it exits once it is drained and holds nothing. */
  readonly exitsWhenDrained: boolean
}

/** Opens a worker; it registers as soon as it listens. @throws BaxError `fleet_unavailable`, `invalid_request` */
export async function openWorker(
  access: FleetAccess,
  { config, capacity, name, advertised, exitsWhenDrained }: WorkerOptions,
) {
  const [{ Membership }, { openRedisStores }, { WorkSlots }, { createEngine }] = await Promise.all([
    import('../../fleet/worker/membership.ts'),
    import('../../fleet/stores/open.ts'),
    import('../../server/access/load.ts'),
    import('../../engine/index.ts'),
  ])
  const { log, profileKey, vaultKey } = config
  const fleet = await openFleet(access, log)
  const { redis, forwarded, secret, identityKey, build, version } = fleet
  const stores = await orClose(openRedisStores({ redis, log, profileKey, vaultKey }), fleet)
  let membership: Membership | undefined
  const drained = new AbortController()
  const bound = boundTo(() => membership!)
  const verifier = forwarded.forWorker((id) => membership?.lease.isOwn(id))
  const report = (error: Error) => log('warn', 'cannot update the directory of the fleet', { error: error.message })
  const engine = createEngine({ ...config, stores, identityKey, bound, workerId: () => membership?.lease.id })
  const workSlots = new WorkSlots(limits.overload.pages, 1)
  const begin = (url: string) =>
    Membership.begin({
      redis,
      member: { secret, build },
      worker: { ...capacity, ...(name !== undefined && { name }), url, version, build },
      sessions: engine.sessions,
      diagnostics: engine.diagnostics,
      checks: checksOf(engine),
      scraper: () => engine.extractor.load(),
      keys: stores.keys,
      log,
      scrapes: () => workSlots.running,
      endAll: () => engine.endAll(),
      onDrain: () => drained.abort('drained'),
    })
  const worker: ServedWorker = {
    workSlots,
    channel: advertised?.startsWith('https:') ? undefined : fleet.channel(),
    exitsWhenDrained,
    drained: drained.signal,
    unavailable: (error) => membership?.failed(error),
    listening: async (address) => {
      membership = await begin(advertised ?? address)
    },
    // Both are best effort: without Redis, the lease ends by itself.
    draining: async () => membership?.drain().catch(report),
    ended: async () => membership?.end().catch(report),
  }
  return {
    served: { engine, gate: { hosts: null, origins: new Set<string>(), keys: null, forwarded: verifier }, worker },
    close: async () => {
      await engine.close()
      stores.close()
      fleet.close()
    },
  }
}

/** Closes the fleet if its stores cannot be opened. */
const orClose = <T>(opening: Promise<T>, fleet: { close(): void }): Promise<T> =>
  opening.catch((error: unknown) => {
    fleet.close()
    throw error
  })

/** Binds objects to a worker: no request arrives before it is registered. */
const boundTo = (membership: () => Membership): BoundObjects => ({
  bind: (object, reservation) => membership().lease.bind(object, reservation),
  // The slot is free for the next waiting session.
  end: (id, keptMs) =>
    membership()
      .lease.end(id, keptMs)
      .finally(() => membership().wake()),
})

/** Tries the browser and Docker of an engine. */
const checksOf = (engine: Engine): Checks => ({
  browser: async (fresh) => {
    const { browser } = await engine.readiness({ fresh })
    return browser.ok ? null : (browser.message ?? 'the browser does not start')
  },
  // A request to Docker; fails with the reason.
  docker: async () => engine.shells.images.list().then(() => null),
})
