/** Directories and workers for tests, on a real Redis. */
import { Redis } from 'ioredis'
import type { WorkerLabel } from '../../src/core/fleet.ts'
import { type FleetDirectory, openDirectory } from '../../src/fleet/directory/directory.ts'
import { WorkerLease, type WorkerLeaseOptions } from '../../src/fleet/directory/worker-lease.ts'
import type { Caller } from '../../src/core/access/caller.ts'

export const testBuild = { build: 'a'.repeat(40), version: '1.0.0' }

export const callerOf = (keyId: string | null, admin = false): Caller => ({ keyId, name: null, scopes: [], admin })

export interface WorkerChoice {
  readonly slots?: { session?: number; shell?: number; relay?: number }
  readonly pages?: number
  readonly labels?: readonly WorkerLabel[]
  readonly build?: string
  readonly version?: string
}

export interface DirectoryBench {
  readonly directory: FleetDirectory
  readonly redis: Redis
  /** A further connection. */
  connect(): Redis
  startWorker(choice?: WorkerChoice, options?: Partial<WorkerLeaseOptions>): Promise<WorkerLease>
  close(): Promise<void>
}

let lastPort = 20_000

/** Opens a directory that never reaps by itself, reads the loads of workers for every choice, and whose workers never send heartbeats unless they are asked to. */
export function openBench(url: string): DirectoryBench {
  const connections: Redis[] = []
  const leases: WorkerLease[] = []
  const connect = () => {
    const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
    // Expected whenever a test ends the server.
    redis.on('error', () => {})
    connections.push(redis)
    return redis
  }
  const redis = connect()
  const directory = openDirectory({ redis, reapMs: 0, loadsMs: 0, ...testBuild })
  return {
    directory,
    redis,
    connect,
    async startWorker(choice = {}, options = {}) {
      const { slots, pages = 4, labels = ['browser', 'render', 'shell', 'relay'], build, version } = choice
      const lease = await WorkerLease.start({
        redis,
        worker: {
          url: `http://127.0.0.1:${++lastPort}`,
          labels,
          slots: { session: 0, shell: 0, relay: 0, ...slots },
          pages,
          build: build ?? testBuild.build,
          version: version ?? testBuild.version,
        },
        log: () => {},
        load: () => ({ busy_pages: 0, memory_bytes: 1 }),
        onLost: async () => {},
        leaseMs: 60_000,
        heartbeatMs: 60_000,
        ...options,
      })
      leases.push(lease)
      return lease
    },
    async close() {
      await Promise.allSettled(leases.map((lease) => lease.stop()))
      directory.close()
      for (const connection of connections) connection.disconnect()
    },
  }
}
