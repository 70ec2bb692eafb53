/** The part of a worker that creates the sessions that wait in the fleet. */
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import type { WorkerLabel } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { openDirectory } from '../directory/directory.ts'
import type { WorkerLease } from '../directory/worker-lease.ts'
import { type FleetMember, ProvisionStore } from './store.ts'
import { type Taker, type TakerFacts, takeProvisions } from './taker.ts'

export interface TakingOptions {
  readonly redis: Redis
  readonly member: FleetMember
  readonly version: string
  readonly lease: Pick<WorkerLease, 'id' | 'draining'>
  /** Whether a label of the worker works. */
  readonly can: (label: WorkerLabel) => boolean
  /** Called with the error when the browser of the worker does not start. */
  readonly failed: TakerFacts['failed']
  readonly sessions: TakerFacts['sessions']
  readonly diagnostics: TakerFacts['diagnostics']
  readonly log: Log
}

/** Starts to take provisions for a registered worker. @throws BaxError `fleet_unavailable` */
export async function startTaking({ redis, member, version, lease, can, ...facts }: TakingOptions): Promise<Taker> {
  const store = await ProvisionStore.open(redis, member)
  const directory = openDirectory({ redis, build: member.build, version, reapMs: 0 })
  const taker = takeProvisions({
    ...facts,
    store,
    directory,
    workerId: () => lease.id,
    mayTake: () => !lease.draining && can('browser'),
  })
  const builds = async () =>
    new Set((await directory.workers()).filter(({ state }) => state === 'ready').map(({ build }) => build))
  // Fails while Redis is away; the next time is early enough.
  const adopt = () => void (lease.draining || store.adopt(builds).catch(() => {}))
  const timer = setInterval(adopt, limits.scaling.taking.adoptMs).unref()
  return {
    wake: () => taker.wake(),
    async close() {
      clearInterval(timer)
      await taker.close()
      directory.close()
      store.close()
    },
  }
}
