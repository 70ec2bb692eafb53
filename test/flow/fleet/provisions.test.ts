import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Call } from '../../../src/core/operation/call.ts'
import type { Sessions } from '../../../src/core/engine.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { sessionInput } from '../../../src/core/shapes/session.ts'
import { GatewayProvisions } from '../../../src/fleet/provision/provisions.ts'
import { ProvisionStore } from '../../../src/fleet/provision/store.ts'
import { type Taker, takeProvisions } from '../../../src/fleet/provision/taker.ts'
import { callerOf, type DirectoryBench, openBench, testBuild } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const secret = 'a secret that only the members of the fleet know'
const input = (fields: Record<string, unknown> = {}) => sessionInput.parse(fields)
const ann = callerOf('key_ann')
const call = (fields: Partial<Call> = {}): Call => ({
  caller: ann,
  signal: new AbortController().signal,
  baseUrl: 'https://bax.example',
  socketBaseUrl: 'https://bax.example',
  requestId: 'req_1',
  ...fields,
})

/** A worker with real slots in the directory, whose engine is replaced by an object that only remembers sessions. */
interface TestWorker {
  readonly id: string
  readonly calls: Call[]
  readonly open: string[]
  readonly taker: Taker
  /** Ends a session, which frees its slot. */
  end(sessionId: string): Promise<void>
}

describe.skipIf(noRedis)(titled('provisions of a fleet', noRedis), () => {
  let redis: TestRedis
  let bench: DirectoryBench
  const cleanUp: (() => unknown)[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  afterEach(async () => {
    for (const clean of cleanUp.splice(0).toReversed()) await clean()
    await redis.client.flushall()
  })

  const openStore = async (leaseMs: number = limits.scaling.taking.leaseMs, build = testBuild.build) => {
    const store = await ProvisionStore.open(bench.connect(), { secret, build, leaseMs })
    cleanUp.push(() => store.close())
    return store
  }
  const openGateway = async (timeoutMs?: number) => {
    if (!bench) throw new Error('open the bench first')
    const provisions = new GatewayProvisions(await openStore(), timeoutMs)
    /** Begins a provision, of a session for which no worker has a slot. */
    const provision = (fields: Record<string, unknown> = {}, by: Call = call(), most = 0) =>
      provisions.begin({ input: input(fields), most }, by)
    return { provisions, provision }
  }
  const openFleet = () => {
    bench = openBench(redis.url)
    cleanUp.push(() => bench.close())
  }
  const startWorker = async (
    changes: {
      slots?: number
      leaseMs?: number
      create?: (made: string, by: Call) => Promise<unknown>
      stopsAfterFailure?: boolean
    } = {},
  ): Promise<TestWorker> => {
    const lease = await bench.startWorker({ slots: { session: changes.slots ?? 1 } })
    const store = await openStore(changes.leaseMs)
    const calls: Call[] = []
    const open: string[] = []
    const sessions: Pick<Sessions, 'create' | 'provision' | 'cancelProvision' | 'close'> = {
      async create({ requested_name }, by) {
        const session_id = `ses_${lease.id}_${calls.push(by)}`
        const name = requested_name ?? null
        await lease.bind({ id: session_id, kind: 'session', owner: by.caller.keyId, name }, by.reservation)
        open.push(session_id)
        await changes.create?.(session_id, by)
        return { status: 'ready', session_id, frame_token: `ft_${session_id}`, name, cdp_url: 'ws://x' }
      },
      provision: () => expect.unreachable(),
      cancelProvision: () => expect.unreachable(),
      close: (sessionId) => end(sessionId),
    }
    const end = async (sessionId: string) => {
      open.splice(open.indexOf(sessionId), 1)
      await lease.end(sessionId, 1000)
      taker.wake()
    }
    const { directory } = bench
    let works = true
    const taker = takeProvisions({
      store,
      directory,
      sessions,
      diagnostics: { addStages: () => {} },
      workerId: () => lease.id,
      failed: async () => {
        works = !changes.stopsAfterFailure
      },
      mayTake: () => works,
      log: () => {},
    })
    cleanUp.push(() => taker.close())
    return { id: lease.id, calls, open, taker, end }
  }
  /** Takes the only free slot. */
  const occupy = async () => {
    const reservation = await bench.directory.reserve({ kind: 'session', owner: null, most: 0 })
    return reservation ?? expect.fail('no worker had a free slot')
  }

  const lacking = () =>
    Promise.reject(new BaxError('browser_failed', 'the browser did not start', { unavailable: true }))

  test('fails with the reason if several attempts find no browser', async () => {
    openFleet()
    const gateway = await openGateway()
    const broken = await startWorker({ create: lacking, slots: 10 })
    const failing = await gateway.provision({})
    await waitUntil(async () => (await gateway.provisions.get(failing, call())).status !== 'provisioning')
    expect(await gateway.provisions.get(failing, call())).toMatchObject({
      status: 'failed',
      code: 'browser_failed',
      error: 'the browser did not start',
    })
    expect(broken.calls).toHaveLength(limits.scaling.taking.attempts)
  })

  test('goes to another worker if the first one has no browser', async () => {
    openFleet()
    const gateway = await openGateway()
    const broken = await startWorker({ create: lacking, stopsAfterFailure: true })
    const id = await gateway.provision({})
    await waitUntil(() => broken.calls.length === 1)
    const other = await startWorker()
    await waitUntil(async () => (await gateway.provisions.get(id, call())).status === 'ready')
    expect([broken.calls.length, other.open.length]).toEqual([1, 1])
  })

  test('gives a waiting session the slot of a worker that becomes free, stage by stage', async () => {
    openFleet()
    const gateway = await openGateway()
    const worker = await startWorker()
    const first = await occupy()
    const id = await gateway.provision({ requested_name: 'shop' })
    const waiting = await gateway.provisions.get(id, call())
    expect(waiting).toMatchObject({
      status: 'provisioning',
      stage: 'provisioning',
      queue_position: 1,
      session_id: null,
      frame_token: null,
      error: null,
    })
    await bench.directory.release(first.id)
    const ready = await gateway.provisions.wait(id, call())
    expect(ready).toMatchObject({
      status: 'ready',
      queue_position: null,
      session_id: worker.open[0],
      frame_token: `ft_${worker.open[0]}`,
      name: 'shop',
      sse_url: `https://bax.example/stream/sse?session_id=${worker.open[0]}`,
      cdp_url: `wss://bax.example/sessions/${worker.open[0]}/cdp`,
    })
    expect(ready.stages.map(({ stage }) => stage)).toEqual([
      'provisioning',
      'scaling',
      'worker_found',
      'creating',
      'ready',
    ])
    expect(worker.calls[0]).toMatchObject({ caller: ann, requestId: 'req_1', baseUrl: 'https://bax.example' })
    expect(Date.parse(ready.expires_at) - Date.parse(ready.updated_at)).toBe(limits.session.tombstoneMs)
  })

  test('serves waiting sessions in order', async () => {
    openFleet()
    const gateway = await openGateway()
    const held = await startWorker()
    const first = await occupy()
    const ids = [await gateway.provision(), await gateway.provision(), await gateway.provision()]
    const positions = await Promise.all(
      ids.map(async (id) => (await gateway.provisions.get(id, call())).queue_position),
    )
    expect(positions).toEqual([1, 2, 3])
    await bench.directory.release(first.id)
    for (const id of ids) {
      const { session_id } = await gateway.provisions.wait(id, call())
      await held.end(session_id!)
    }
    expect(held.calls).toHaveLength(3)
  })

  test('serves keys in turn, so that one with many waiting sessions does not delay the others', async () => {
    openFleet()
    const gateway = await openGateway()
    const held = await startWorker()
    const first = await occupy()
    const bob = call({ caller: callerOf('key_bob') })
    const own = [await gateway.provision(), await gateway.provision(), await gateway.provision()]
    const other = await gateway.provision({}, bob)
    const positionsOf = (ids: readonly string[], by = call()) =>
      Promise.all(ids.map(async (id) => (await gateway.provisions.get(id, by)).queue_position))
    expect([...(await positionsOf(own)), ...(await positionsOf([other], bob))]).toEqual([1, 3, 4, 2])
    await bench.directory.release(first.id)
    for (const [id, by] of [
      [own[0]!, call()],
      [other, bob],
      [own[1]!, call()],
      [own[2]!, call()],
    ] as const) {
      const { session_id } = await gateway.provisions.wait(id, by)
      await held.end(session_id!)
    }
    expect(held.calls.map(({ caller }) => caller.keyId)).toEqual(['key_ann', 'key_bob', 'key_ann', 'key_ann'])
  })

  test('is visible only to its owner and to admins', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    const other = call({ caller: callerOf('key_bob') })
    await expect(gateway.provisions.get(id, other)).rejects.toMatchObject({ code: 'provision_not_found' })
    await expect(gateway.provisions.cancel(id, other)).rejects.toMatchObject({ code: 'provision_not_found' })
    const admin = call({ caller: callerOf('key_root', true) })
    expect(await gateway.provisions.get(id, admin)).toMatchObject({ status: 'provisioning' })
  })

  test('fails with no_capacity when no worker has a slot in time', async () => {
    openFleet()
    const gateway = await openGateway(100)
    const id = await gateway.provision()
    await expect(gateway.provisions.wait(id, call())).rejects.toMatchObject({
      code: 'no_capacity',
      message: 'no worker had a free slot within 0.1 s',
    })
    expect(await gateway.provisions.get(id, call())).toMatchObject({
      status: 'failed',
      stage: 'failed',
      code: 'no_capacity',
    })
    expect(await gateway.provisions.waiting()).toBe(0)
  })

  test('a cancelled one leaves the queue', async () => {
    openFleet()
    const gateway = await openGateway()
    const [id, next] = [await gateway.provision(), await gateway.provision()]
    await gateway.provisions.cancel(id, call())
    await gateway.provisions.cancel(id, call())
    expect(await gateway.provisions.get(id, call())).toMatchObject({ status: 'cancelled', code: 'cancelled' })
    expect(await gateway.provisions.get(next, call())).toMatchObject({ queue_position: 1 })
  })

  test('cancelling during the creation ends the session and frees its slot', async () => {
    openFleet()
    const gateway = await openGateway()
    let go = () => {}
    const worker = await startWorker({ create: () => new Promise<void>((resolve) => (go = resolve)) })
    const first = await occupy()
    const id = await gateway.provision()
    await bench.directory.release(first.id)
    await waitUntil(() => worker.open.length === 1)
    await gateway.provisions.cancel(id, call())
    await waitUntil(() => worker.calls[0]!.signal.aborted)
    go()
    await waitUntil(() => worker.open.length === 0)
    expect(await gateway.provisions.get(id, call())).toMatchObject({ status: 'cancelled', session_id: null })
    expect((await occupy()).worker.id).toBe(worker.id)
  })

  test('a caller that goes away while it waits cancels the provision', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    const gone = new AbortController()
    const waiting = gateway.provisions.wait(id, call({ signal: gone.signal }))
    gone.abort(new Error('the caller is gone'))
    await expect(waiting).rejects.toThrow('the caller is gone')
    expect(await gateway.provisions.get(id, call())).toMatchObject({ status: 'cancelled' })
  })

  test('another worker creates the session when the first one is killed', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    // A worker that took it, found a slot, and was killed.
    const killed = await openStore(3000)
    const taken = (await killed.take())!
    expect(await killed.found(taken)).toBe(true)
    expect(await gateway.provisions.get(id, call())).toMatchObject({ stage: 'creating', queue_position: null })
    const worker = await startWorker()
    const ready = await gateway.provisions.wait(id, call())
    expect(ready.session_id).toBe(worker.open[0])
    // Late reports of the first worker are discarded.
    expect(await killed.complete(taken, { session_id: 'ses_late', serves_cdp: false })).toBe(false)
    expect(await killed.renew(taken)).toBe(false)
    expect((await gateway.provisions.get(id, call())).session_id).toBe(worker.open[0])
  })

  test('fails when it keeps costing workers', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    const killed = await openStore(100)
    for (let attempt = 0; attempt < limits.scaling.taking.attempts;) {
      const taken = await killed.take()
      // Not an attempt if its lease is over by then.
      if (taken && (await killed.found(taken))) attempt++
    }
    await expect(gateway.provisions.wait(id, call())).rejects.toMatchObject({ code: 'worker_lost' })
  })

  test('does not depend on the gateway that began it', async () => {
    openFleet()
    const first = await openGateway()
    const id = await first.provision()
    const second = await openGateway()
    const worker = await startWorker()
    expect((await second.provisions.wait(id, call())).session_id).toBe(worker.open[0])
  })

  test('reports the error of the creation', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    const failure = Object.assign(new Error('Chromium exited'), {})
    const worker = await startWorker({ create: () => Promise.reject(failure) })
    await expect(gateway.provisions.wait(id, call())).rejects.toMatchObject({ code: 'internal_error' })
    expect(worker.calls).toHaveLength(1)
  })

  test('limits waiting sessions of a key and of all keys, and their names', async () => {
    openFleet()
    const gateway = await openGateway()
    await gateway.provision({ requested_name: 'shop' }, call(), 2)
    await expect(gateway.provision({ requested_name: 'shop' })).rejects.toMatchObject({ code: 'conflict' })
    await gateway.provision({}, call(), 2)
    await expect(gateway.provision({}, call(), 2)).rejects.toMatchObject({ code: 'too_many_sessions' })
    const bob = call({ caller: callerOf('key_bob') })
    await gateway.provision({ requested_name: 'shop' }, bob, 2)
    for (let count = 3; count < limits.overload.provisions; count++) await gateway.provision()
    await expect(gateway.provision()).rejects.toMatchObject({ code: 'no_capacity' })
  })

  test('a worker of another build takes it as soon as its own build has no workers', async () => {
    openFleet()
    const { open } = await startWorker({ slots: 2 })
    const gone = new GatewayProvisions(await openStore(undefined, 'gone'))
    const ids = [
      await gone.begin({ input: input(), most: 0 }, call()),
      await gone.begin({ input: input(), most: 0 }, call()),
    ]
    const store = await openStore()
    const both = new Set(['gone', testBuild.build])
    expect(await store.adopt(async () => both)).toBe(0)
    await redis.client.del(`bax:provisions:adopted:${testBuild.build}`)
    expect(open).toEqual([])
    expect(await store.adopt(async () => new Set([testBuild.build]))).toBe(2)
    // Workers share the work of looking for them.
    expect(await store.adopt(() => expect.unreachable())).toBe(0)
    for (const id of ids) await waitUntil(async () => (await gone.get(id, call())).status === 'ready')
    expect(open).toHaveLength(2)
    expect(await redis.client.smembers('bax:provisions:builds')).toEqual([testBuild.build])
  })

  test('a worker of another build does not take it', async () => {
    openFleet()
    const gateway = await openGateway()
    await gateway.provision()
    expect(await (await openStore(1000, 'b'.repeat(40))).take()).toBeUndefined()
    expect(await gateway.provisions.waiting()).toBe(1)
  })

  test('only members of the fleet can write jobs and read results', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision({ start_url: 'https://shop.example/secret' })
    const stored = JSON.stringify(await redis.client.hgetall(`bax:provision:${id}`))
    expect(stored).not.toContain('shop.example')
    await redis.client.hset(`bax:provision:${id}`, 'job', Buffer.from('a forged job').toString('base64'))
    const worker = await startWorker()
    await expect(gateway.provisions.wait(id, call())).rejects.toMatchObject({ code: 'unauthorized' })
    expect(worker.calls).toEqual([])
  })

  test('survives a restart of Redis', async () => {
    openFleet()
    const gateway = await openGateway()
    const id = await gateway.provision()
    const waiting = gateway.provisions.wait(id, call())
    await redis.kill()
    await redis.start()
    const worker = await startWorker()
    expect((await waiting).session_id).toBe(worker.open[0])
  })
})
