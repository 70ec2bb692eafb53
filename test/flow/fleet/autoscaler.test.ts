import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { WorkerLease } from '../../../src/fleet/directory/worker-lease.ts'
import { startAutoscaler } from '../../../src/fleet/scaler/autoscaler.ts'
import type { DecisionOptions } from '../../../src/fleet/scaler/decision.ts'
import { type Removal, type Scaler, ScalerError } from '../../../src/fleet/scaler/scaler.ts'
import { scalingState } from '../../../src/fleet/scaler/state.ts'
import { type DirectoryBench, openBench } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

describe.skipIf(noRedis)(titled('the autoscaler', noRedis), () => {
  let redis: TestRedis
  let bench: DirectoryBench
  const cleanUp: (() => Promise<void>)[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  afterEach(async () => {
    for (const clean of cleanUp.splice(0).toReversed()) await clean()
    await redis.client.flushall()
  })

  /** A platform that starts workers with two session slots; drained and idle ones exit by themselves. */
  const openPlatform = () => {
    bench = openBench(redis.url)
    cleanUp.push(() => bench.close())
    const workers = new Map<string, WorkerLease>()
    const wanted: number[] = []
    let failure: string | undefined
    let starting: Promise<void> = Promise.resolve()
    const exitOnce = async (lease: WorkerLease) => {
      await waitUntil(() => lease.draining && lease.objects === 0)
      workers.delete(lease.id)
      await lease.stop()
    }
    const start = async () => {
      const lease = await bench.startWorker({ slots: { session: 2 } }, { heartbeatMs: 20 })
      workers.set(lease.id, lease)
      void exitOnce(lease).catch(() => {})
    }
    const scaler = (removal: Removal = 'exited'): Scaler => ({
      removal,
      describe: () => 'test platform',
      current: async () => workers.size,
      async want(count) {
        if (failure !== undefined) throw new ScalerError(failure, { hint: 'add quota' })
        if (wanted.at(-1) !== count) wanted.push(count)
        await (starting = starting.then(async () => {
          while (workers.size < count) await start()
        }))
      },
    })
    return { workers, wanted, scaler, fail: (message?: string) => (failure = message) }
  }
  const scale = (
    scaler: Scaler,
    changes: Partial<DecisionOptions> & { leaseMs?: number; log?: (line: string) => void } = {},
  ) => {
    const { log = () => {}, ...more } = changes
    const autoscaler = startAutoscaler({
      redis: bench.connect(),
      scaler,
      directory: bench.directory,
      provisions: { waiting: async () => 0, markScaling: async () => {} },
      jobs: async () => 0,
      min: 1,
      max: 4,
      quietMs: 100,
      everyMs: 20,
      leaseMs: 500,
      log: (_level, message) => log(message),
      ...more,
    })
    cleanUp.push(() => autoscaler.close())
    return autoscaler
  }
  const openSession = async (id: string) => {
    const reservation = (await bench.directory.reserve({ kind: 'session', owner: null, most: 0 }))!
    return { id, reservation }
  }

  test('keeps the minimum, grows for waiting sessions, and shrinks again without ending any', async () => {
    const platform = openPlatform()
    let waiting = 0
    let marked = 0
    const provisions = { waiting: async () => waiting, markScaling: async () => void (marked += 1) }
    scale(platform.scaler(), { provisions, quietMs: 300 })
    await waitUntil(() => platform.workers.size === 1)
    const busy = [...platform.workers.values()][0]!
    const { reservation } = await openSession('a')
    await busy.bind({ id: 'ses_a', kind: 'session', owner: null, name: null }, reservation.id)
    waiting = 5
    // One used, five waiting and one in reserve, with two on each worker.
    await waitUntil(() => platform.workers.size === 4)
    waiting = 0
    await waitUntil(() => platform.workers.size === 1 && platform.wanted.at(-1) === 1)
    expect([...platform.workers.keys()]).toEqual([busy.id])
    expect(busy.draining).toBe(false)
    expect(await scalingState(redis.client)).toMatchObject({
      scaler: 'test platform',
      wanted: 1,
      min: 1,
      max: 4,
      error: null,
    })
  })

  test('records that the scaler was asked, for the sessions that wait', async () => {
    const platform = openPlatform()
    const marks: number[] = []
    const slow: Scaler = { ...platform.scaler(), current: async () => undefined, want: async () => {} }
    const provisions = { waiting: async () => 1, markScaling: async () => void marks.push(1) }
    scale(slow, { provisions })
    await waitUntil(() => marks.length > 0)
  })

  test('only one gateway acts, and another one goes on when it is gone', async () => {
    const platform = openPlatform()
    const actors: string[] = []
    const named = (name: string): Scaler => ({
      ...platform.scaler(),
      current: async () => (actors.push(name), platform.workers.size),
    })
    // Longer than this process is ever held up.
    const leaseMs = 60_000
    const first = scale(named('first'), { leaseMs })
    await waitUntil(() => actors.length > 0)
    scale(named('second'), { leaseMs })
    await waitUntil(() => actors.length > 10)
    expect(new Set(actors)).toEqual(new Set(['first']))
    await first.close()
    await waitUntil(() => actors.includes('second'))
  })

  test('reports a failure once, and goes on afterwards', async () => {
    const platform = openPlatform()
    platform.fail('no quota left')
    const lines: string[] = []
    scale(platform.scaler(), { log: (line) => lines.push(line) })
    await waitUntil(async () => (await scalingState(redis.client))?.error === 'no quota left')
    platform.fail()
    await waitUntil(() => platform.workers.size === 1)
    await waitUntil(() => lines.includes('scaling works again'))
    expect(lines).toEqual(['cannot scale: no quota left', 'scaling works again'])
  })

  test('replaces workers that somebody drained or that are lost', async () => {
    const platform = openPlatform()
    scale(platform.scaler(), { min: 2 })
    await waitUntil(() => platform.workers.size === 2)
    const [gone] = platform.workers.keys()
    await bench.directory.drain(gone!)
    await waitUntil(() => !platform.workers.has(gone!) && platform.workers.size === 2)
  })
})
