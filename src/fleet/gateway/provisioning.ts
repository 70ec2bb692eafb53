/** Provisions and the scaler of a gateway. */
import type { Redis } from 'ioredis'
import type { Log } from '../../core/config/config.ts'
import type { Directory } from '../../core/fleet.ts'
import type { FleetProvisions } from '../../core/provisions.ts'
import type { ScalingOptions } from '../../core/scaling.ts'
import type { FleetProvision, FleetQueue } from '../../core/shapes/fleet/status.ts'
import { GatewayProvisions } from '../provision/provisions.ts'
import { type FleetMember, ProvisionStore } from '../provision/store.ts'
import { startAutoscaler } from '../scaler/autoscaler.ts'
import { openScaler, type ScalerEnvironment } from '../scaler/open.ts'
import { provisionsQueue } from '../status.ts'

export interface ProvisioningOptions {
  readonly redis: Redis
  readonly directory: Directory
  readonly member: FleetMember
  readonly scaling: ScalingOptions
  readonly environment: ScalerEnvironment
  /** Returns the number of jobs that wait for a worker. */
  readonly jobs: () => Promise<number>
  readonly log: Log
}

export interface Provisioning {
  readonly provisions: FleetProvisions
  /** Returns the provisions under way. */
  readonly list: () => Promise<FleetProvision[]>
  /** Returns the state of the queue of waiting sessions. */
  readonly queue: () => Promise<FleetQueue>
  /** Whether the fleet may have no workers while nobody waits for one. */
  readonly scales: boolean
  close(): Promise<void>
}

/** Opens the provisions, and starts the scaler if there is one. @throws BaxError `fleet_unavailable` */
export async function openProvisioning(options: ProvisioningOptions): Promise<Provisioning> {
  const { redis, directory, member, scaling, environment, jobs, log } = options
  const store = await ProvisionStore.open(redis, member)
  const scaler = openScaler(scaling.target, environment)
  const { min, max } = scaling
  const autoscaler = scaler && startAutoscaler({ redis, scaler, directory, provisions: store, jobs, min, max, log })
  return {
    provisions: new GatewayProvisions(store, scaling.provisionTimeoutMs),
    scales: scaler !== undefined && min === 0,
    list: () => store.list(),
    queue: async () => ({ queue: provisionsQueue, ...(await store.state()), delayed: 0, failed: 0 }),
    async close() {
      await autoscaler?.close()
      store.close()
    },
  }
}
