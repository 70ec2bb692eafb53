/** Placement with as many workers and sessions as a large fleet has; the workers are simulated, Redis is real. */
import { Redis } from 'ioredis'
import { openDirectory, reapWith } from '../../../src/fleet/directory/directory.ts'
import { scriptsOn } from '../../../src/fleet/directory/scripts/run.ts'
import { WorkerLease } from '../../../src/fleet/directory/worker-lease.ts'
import { callerOf, testBuild } from '../../support/fleet-directory.ts'
import { startRedis, type TestRedis } from '../../support/redis.ts'
import type { Row, Table } from '../measure.ts'

const workers = 1000
const sessions = 100_000
const slots = 120
/** Requests under way at the same time, over all gateways. */
const atOnce = 16
const gateways = 4
const leastPerSec = 2000
const mostMs = 20

/** Leases that ended during the measurement. */
let lostLeases = 0

export async function measurePlacement(): Promise<Table[]> {
  const server = await startRedis({ appendfsync: 'everysec' })
  const connections: Redis[] = []
  const connect = () => {
    const redis = new Redis(server.url, { maxRetriesPerRequest: null })
    connections.push(redis)
    return redis
  }
  try {
    const links = Array.from({ length: 10 }, connect)
    const leases = await Promise.all(
      Array.from({ length: workers }, (_, at) => startWorker(links[at % links.length]!, at)),
    )
    const table = await measureWith(server, leases, connect)
    if (lostLeases > 0) throw new Error(`${lostLeases} workers lost their lease`)
    // Nothing is left to free, which would take longer than the workers wait.
    await server.client.flushall()
    await Promise.all(leases.map((lease) => lease.stop()))
    return [table]
  } finally {
    for (const connection of connections) connection.disconnect()
    await server.close()
  }
}

/** A worker with the usual heartbeats, which are part of the load. */
const startWorker = (redis: Redis, at: number) =>
  WorkerLease.start({
    redis,
    worker: {
      url: `http://10.0.${at >> 8}.${at & 255}:8080`,
      labels: ['browser', 'render'],
      slots: { session: slots, shell: 0, relay: 0 },
      pages: 8,
      ...testBuild,
    },
    log: () => {},
    load: () => ({ busy_pages: at % 8, memory_bytes: 1e9 }),
    onLost: async () => void (lostLeases += 1),
  })

async function measureWith(server: TestRedis, leases: readonly WorkerLease[], connect: () => Redis): Promise<Table> {
  const byId = new Map(leases.map((lease) => [lease.id, lease]))
  const all = Array.from({ length: gateways }, () => openDirectory({ redis: connect(), ...testBuild }))
  const place = async (at: number) => {
    const owner = `key_${at % 500}`
    const start = performance.now()
    const reserved = await all[at % gateways]!.reserve({ kind: 'session', owner, most: 1000, name: `s${at}` })
    const took = performance.now() - start
    if (!reserved) throw new Error(`no worker for session ${at}`)
    const object = { id: `ses_${at}`, kind: 'session', owner, name: `s${at}` } as const
    await byId.get(reserved.worker.id)!.bind(object, reserved.id)
    return took
  }
  const tenth = sessions / 10
  const cpuBefore = await cpuSecsOf(server)
  const first = await timed(0, tenth, place)
  const middle = await timed(tenth, sessions - tenth, place)
  const last = await timed(sessions - tenth, sessions, place)
  const cpuMs = (1000 * ((await cpuSecsOf(server)) - cpuBefore)) / sessions
  const memory = Number(/^used_memory:(\d+)/m.exec(await server.client.info('memory'))![1])
  const found = await timed(0, 20_000, async (at) => {
    const [id, caller] = [(at * 7919) % sessions, callerOf(null, true)]
    const start = performance.now()
    if (!(await all[at % gateways]!.find(`ses_${id}`, ['session'], caller))) throw new Error(`session ${id} is lost`)
    return performance.now() - start
  })
  const used = (await all[0]!.workers()).map((worker) => worker.used.session)
  const lost = await measureReaping(server, leases[0]!, connect())
  for (const gateway of all) gateway.close()
  return {
    title: `Placement: ${workers} simulated workers, ${sessions} sessions`,
    columns: ['per second', 'ms, median', 'p99'],
    note: `${gateways} gateways with ${atOnce} calls under way, heartbeats as usual, one Redis with AOF; all on this machine. A placement reserves a slot and binds a session; the times are those of the reservation. At the end a worker has ${Math.min(...used)} to ${Math.max(...used)} sessions, and Redis uses ${(memory / 1e6).toFixed(0)} MB.`,
    rows: [
      rowOf(`placements, the first ${tenth}`, first),
      rowOf('placements, in between', middle),
      rowOf(`placements, the last ${tenth}`, last, true),
      {
        name: 'CPU time of Redis per placement',
        cells: [`${(1000 / cpuMs).toFixed(0)} on a core`, cpuMs.toFixed(2), ''],
      },
      rowOf('an ID looked up', found),
      { name: `a lost worker with ${lost.objects} sessions reaped`, cells: ['', `${lost.ms.toFixed(1)} in all`, ''] },
    ],
  }
}

/** Returns the CPU time that Redis has used, which other load on the machine hardly changes. */
async function cpuSecsOf({ client }: TestRedis): Promise<number> {
  const info = await client.info('cpu')
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)![1])
  return field('used_cpu_user_main_thread') + field('used_cpu_sys_main_thread')
}

interface Timed {
  readonly perSec: number
  readonly median: number
  readonly p99: number
}

/** Runs the work for all numbers, some at the same time; the work returns its own duration. */
async function timed(from: number, to: number, work: (at: number) => Promise<number>): Promise<Timed> {
  const times: number[] = []
  let next = from
  const start = performance.now()
  const run = async () => {
    while (next < to) times.push(await work(next++))
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  const took = performance.now() - start
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * sorted.length)]!
  return { perSec: ((to - from) * 1000) / took, median: at(0.5), p99: at(0.99) }
}

function rowOf(name: string, { perSec, median, p99 }: Timed, hasTarget = false): Row {
  const rate = hasTarget ? ` (at least ${leastPerSec}${perSec >= leastPerSec ? '' : ', MISSED'})` : ''
  const limit = hasTarget ? ` (at most ${mostMs}${p99 <= mostMs ? '' : ', MISSED'})` : ''
  return { name, cells: [perSec.toFixed(0) + rate, median.toFixed(1), p99.toFixed(1) + limit] }
}

/** Ends a lease in Redis, and frees what the worker held. */
async function measureReaping({ client }: TestRedis, { id, objects }: WorkerLease, redis: Redis) {
  const run = scriptsOn(redis)
  await client.zadd('bax:dir:workers', 1, id)
  const start = performance.now()
  await reapWith(run)
  return { objects, ms: performance.now() - start }
}
