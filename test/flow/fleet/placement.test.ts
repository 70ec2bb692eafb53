import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { type FleetDirectory, openDirectory } from '../../../src/fleet/directory/directory.ts'
import type { WorkerLease } from '../../../src/fleet/directory/worker-lease.ts'
import { callerOf, openBench, testBuild } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'

/** One action of a gateway or a worker. `at` is the index of an existing object or worker, modulo their number. */
type Step =
  | { readonly do: 'reserve'; readonly owner: string; readonly name: number; readonly gateway: number }
  | { readonly do: 'bind' | 'release' | 'end'; readonly at: number }
  | { readonly do: 'drain' | 'lose'; readonly at: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      owner: fc.constantFrom('key_a', 'key_b'),
      // 0: no name.
      name: fc.nat(3),
      gateway: fc.nat(1),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('bind', 'release', 'end'), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('drain', 'lose'), at: fc.nat() }) },
)

const most = 4

describe.skipIf(noRedis)(titled('placement by several gateways at once', noRedis), () => {
  let server: TestRedis
  beforeAll(async () => {
    server = await startRedis({ appendonly: 'no' })
  })
  afterAll(() => server.close())

  test('never exceeds slots or limits, never repeats a name, and loses no slot', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      // Steps of one group run concurrently.
      fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 8 }),
      (slots, groups) => checkRun(server, slots, groups),
    )
    await fc.assert(property, { numRuns: 40, endOnFailure: true })
  })

  test('concurrent reservations take exactly the slots that there are', async () => {
    await server.client.flushall()
    const bench = openBench(server.url)
    for (const session of [3, 5, 9]) await bench.startWorker({ slots: { session } })
    const gateways = Array.from({ length: 4 }, () => openDirectory({ redis: bench.connect(), reapMs: 0, ...testBuild }))
    const attempts = Array.from({ length: 60 }, (_, at) =>
      gateways[at % 4]!.reserve({ kind: 'session', owner: null, most: 0 }),
    )
    expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(17)
    await bench.close()
  })
})

interface Placed {
  readonly reservation: string
  readonly worker: string
  readonly owner: string
  readonly name: string | undefined
  id?: string
}

async function checkRun(server: TestRedis, slots: readonly number[], groups: readonly (readonly Step[])[]) {
  await server.client.flushall()
  const bench = openBench(server.url)
  try {
    const gateways = [bench.directory, openDirectory({ redis: bench.connect(), reapMs: 0, ...testBuild })]
    const workers: WorkerLease[] = []
    for (const session of slots) workers.push(await bench.startWorker({ slots: { session } }))
    const placed = new Set<Placed>()
    let lastId = 0
    const choose = (at: number, isBound: boolean) => {
      const some = [...placed].filter(({ id }) => (id !== undefined) === isBound)
      const one = some[at % some.length]
      // Steps of a group run at the same time, and each object is used by one of them at most.
      if (one) placed.delete(one)
      return one
    }
    const workerOf = ({ worker }: Placed) => workers.find(({ id }) => id === worker)
    const run = async (step: Step): Promise<void> => {
      if (step.do === 'reserve') return reserve(gateways[step.gateway]!, step, placed)
      const worker = workers[step.at % workers.length]!
      if (step.do === 'drain') return bench.directory.drain(worker.id).catch(() => {})
      if (step.do === 'lose') {
        await server.client.zadd('bax:dir:workers', 'XX', 1, worker.id)
        await bench.directory.reap()
        for (const one of placed) if (one.worker === worker.id) placed.delete(one)
        return
      }
      const one = choose(step.at, step.do === 'end')
      if (!one) return
      if (step.do === 'release') await bench.directory.release(one.reservation)
      else if (step.do === 'end') await workerOf(one)!.end(one.id!, 60_000)
      else {
        const id = `ses_${++lastId}`
        const object = { id, kind: 'session', owner: one.owner, name: one.name ?? null } as const
        // Its worker may be lost.
        const bound = await workerOf(one)!
          .bind(object, one.reservation)
          .then(
            () => true,
            () => false,
          )
        if (bound) placed.add({ ...one, id })
      }
    }
    for (const group of groups) {
      await Promise.all(group.map(run))
      await assertConsistent(gateways, placed, slots.length)
    }
    for (const { reservation, ...one } of placed) {
      if (one.id === undefined) await bench.directory.release(reservation)
      else await workers.find(({ id }) => id === one.worker)!.end(one.id, 60_000)
    }
    for (const { used } of await bench.directory.workers()) expect(used.session).toBe(0)
    const keys = await server.client.keys('bax:dir:*')
    expect(keys.filter((key) => /:(?:counts|held|name|owners|reservation)/.test(key))).toEqual([])
  } finally {
    await bench.close()
  }
}

async function reserve(gateway: FleetDirectory, { owner, name }: Step & { do: 'reserve' }, placed: Set<Placed>) {
  const named = name > 0 ? `n${name}` : undefined
  try {
    const found = await gateway.reserve({ kind: 'session', owner, most, ...(named && { name: named }) })
    if (found) placed.add({ reservation: found.id, worker: found.worker.id, owner, name: named })
  } catch (error) {
    expect((error as BaxError).code).toMatch(/^(?:conflict|too_many_sessions)$/)
  }
}

async function assertConsistent(gateways: readonly FleetDirectory[], placed: ReadonlySet<Placed>, atMost: number) {
  const records = await gateways[0]!.workers()
  expect(records.length).toBeLessThanOrEqual(atMost)
  const live = [...placed].filter(({ worker }) => records.some(({ id }) => id === worker))
  for (const { id, used, slots } of records) {
    expect(used.session).toBeLessThanOrEqual(slots.session)
    expect(used.session).toBe(live.filter(({ worker }) => worker === id).length)
  }
  for (const owner of ['key_a', 'key_b']) {
    const own = live.filter((one) => one.owner === owner)
    expect(own.length).toBeLessThanOrEqual(most)
    const names = own.flatMap(({ name }) => name ?? [])
    expect(new Set(names).size).toBe(names.length)
    for (const { id, name } of own) {
      if (!id) continue
      const found = await gateways[1]!.find(name ?? id, ['session'], callerOf(owner))
      expect(found?.id).toBe(id)
    }
  }
}
