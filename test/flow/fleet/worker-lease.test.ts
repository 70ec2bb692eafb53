import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDirectory } from '../../../src/fleet/directory/directory.ts'
import {
  callerOf,
  type DirectoryBench,
  openBench,
  testBuild,
  type WorkerChoice,
} from '../../support/fleet-directory.ts'
import { makeHostProgram } from '../../support/host-process.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const admin = callerOf(null, true)
const session = (id: string, owner: string | null = null, name: string | null = null) =>
  ({ id, kind: 'session', owner, name }) as const

/** A worker that binds the object in its arguments, and stops when it is told to. */
const workerProgram = `
import { connectRedis } from './src/fleet/redis/connect.ts'
import { WorkerLease } from './src/fleet/directory/worker-lease.ts'
const [url, id] = process.argv.slice(2)
const redis = await connectRedis({ url, log: () => {} })
const lease = await WorkerLease.start({
  redis,
  worker: {
    url: 'http://127.0.0.1:1', labels: ['browser'], slots: { session: 1, shell: 0, relay: 0 }, pages: 1,
    build: 'a'.repeat(40), version: '1.0.0',
  },
  log: () => {},
  load: () => ({ busy_pages: 0, memory_bytes: 0 }),
  onLost: async () => {},
  leaseMs: 8000,
  heartbeatMs: 200,
})
await lease.bind({ id, kind: 'session', owner: null, name: null })
process.once('message', async () => {
  await lease.stop()
  redis.disconnect()
  process.disconnect()
})
process.send('ready')
`

describe.skipIf(noRedis)(titled('the lease of a worker', noRedis), () => {
  let server: TestRedis
  let bench: DirectoryBench
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    await server.client.flushall()
    bench = openBench(server.url)
  })
  afterEach(() => bench.close())
  const short = { leaseMs: 5000, heartbeatMs: 100 }
  const reserve = () => bench.directory.reserve({ kind: 'session', owner: 'key_a', most: 0, name: 'shop' })
  const workers = async () => (await bench.directory.workers()).map(({ id }) => id)
  /** Starts a worker on a connection of its own; `silence` ends that, and lets the lease run out. */
  const startDoomed = async (choice: WorkerChoice) => {
    const redis = bench.connect()
    const lost = await bench.startWorker(choice, { redis })
    const silence = async () => {
      redis.disconnect()
      await server.client.zadd('bax:dir:workers', Date.now() - 1, lost.id)
    }
    return { lost, silence }
  }

  test('is renewed by heartbeats, which report the load', async () => {
    let pages = 0
    const worker = await bench.startWorker(
      { pages: 8 },
      { ...short, load: () => ({ busy_pages: pages, memory_bytes: 4096 }) },
    )
    const { id } = worker
    const started = performance.now()
    await waitUntil(() => performance.now() - started > 1.2 * short.leaseMs)
    pages = 5
    await waitUntil(async () => (await bench.directory.workers())[0]?.busy_pages === 5)
    expect(await workers()).toEqual([id])
    expect(worker.id).toBe(id)
    expect((await bench.directory.workers())[0]!.memory_bytes).toBe(4096)
    expect(Math.abs(worker.skewMs)).toBeLessThan(1000)
  })

  test('a worker whose heartbeats stop is reaped once: its objects are lost, names and counts are free', async () => {
    const { lost, silence } = await startDoomed({ slots: { session: 2 } })
    await lost.bind(session('ses_1', 'key_a', 'shop'))
    await lost.bind({ id: 'ex_1', kind: 'exec', owner: null, name: null })
    await bench.directory.reserve({ kind: 'session', owner: 'key_a', most: 0, name: 'later' })
    const other = await bench.startWorker({ slots: { session: 1 } })
    await lost.bind(session('ses_0'))
    await lost.end('ses_0', 60_000)
    await silence()
    await waitUntil(async () => !(await workers()).includes(lost.id))
    // Before anybody reaps, gateways already know that it is lost.
    const found = await bench.directory.find('shop', ['session'], callerOf('key_a'))
    expect(found).toMatchObject({ id: 'ses_1', lost_at: expect.stringMatching(/^20.*Z$/) })
    expect(await bench.directory.reap()).toEqual([lost.id])
    expect(await bench.directory.reap()).toEqual([])
    expect(await bench.directory.find('ses_1', ['session'], callerOf('key_a'))).toEqual(found)
    expect(await bench.directory.find('shop', ['session'], callerOf('key_a'))).toEqual(found)
    expect(await bench.directory.find('ex_1', ['exec'], admin)).toHaveProperty('lost_at')
    // Its tombstones cannot be read there any more.
    expect(await bench.directory.find('ses_0', ['session'], admin)).toHaveProperty('lost_at')
    const left = Number(await server.client.pttl('bax:dir:object:ses_1'))
    expect(left).toBeGreaterThan(9 * 60_000)
    expect(left).toBeLessThanOrEqual(10 * 60_000)
    const again = await reserve()
    expect(again!.worker.id).toBe(other.id)
    await bench.directory.release(again!.id)
    await other.stop()
    expect(
      (await server.client.keys('bax:dir:*')).filter((key) => !/:(?:(?:object|past|gone):|pulse$)/.test(key)),
    ).toEqual([])
  })

  test('reaping frees more objects than one script does', async () => {
    const { lost, silence } = await startDoomed({ slots: { session: 500 } })
    await Promise.all(Array.from({ length: 250 }, (_, at) => lost.bind(session(`ses_${at}`, 'key_a', `n${at}`))))
    await silence()
    await waitUntil(async () => (await workers()).length === 0)
    const second = openDirectory({ redis: bench.connect(), reapMs: 0, ...testBuild })
    const reaped = await Promise.all([bench.directory.reap(), second.reap()])
    expect(reaped.flat()).toContain(lost.id)
    expect(await server.client.exists('bax:dir:counts', 'bax:dir:workers', `bax:dir:held:${lost.id}`)).toBe(0)
    for (const id of ['ses_0', 'ses_249']) expect(await second.find(id, ['session'], admin)).toHaveProperty('lost_at')
  })

  test('gateways reap by themselves', async () => {
    const { lost, silence } = await startDoomed({ slots: { session: 1 } })
    await lost.bind(session('ses_1', 'key_a', 'shop'))
    await silence()
    const gateway = openDirectory({ redis: bench.connect(), reapMs: 20, ...testBuild })
    await waitUntil(async () => (await server.client.exists('bax:dir:counts')) === 0)
    gateway.close()
  })

  test('a worker that was cut off learns that its lease is lost, ends everything, and returns with a new identity', async () => {
    const far = bench.connect()
    const calls: string[] = []
    const worker = await bench.startWorker(
      { slots: { session: 2 } },
      { ...short, redis: far, onLost: async () => void calls.push('lost') },
    )
    await worker.bind(session('ses_1', 'key_a', 'shop'))
    const { id } = worker
    await bench.directory.reap()
    // Nothing arrives from now on, as in a partition, and for Redis the lease ends.
    far.stream.pause()
    await server.client.zadd('bax:dir:workers', Date.now() - 1, id)
    expect(await bench.directory.reap()).toEqual([id])
    expect(calls).toEqual([])
    far.stream.resume()
    await waitUntil(() => worker.id !== id)
    expect(calls).toEqual(['lost'])
    expect(await workers()).toEqual([worker.id])
    expect(await bench.directory.find('ses_1', ['session'], admin)).toHaveProperty('lost_at')
    expect((await reserve())!.worker.id).toBe(worker.id)
    await worker.bind(session('ses_3'))
    expect(await bench.directory.find('ses_3', ['session'], admin)).not.toHaveProperty('lost_at')
  })

  test('after Redis was away for longer than a lease, workers keep what they hold', async () => {
    const worker = await bench.startWorker({ slots: { session: 1 } }, { leaseMs: 60_000, heartbeatMs: 60_000 })
    await worker.bind(session('ses_1'))
    // The state of Redis after an outage of 30 s: an old pulse, and a lease that ended during the outage.
    const now = Date.now()
    await server.client.set('bax:dir:pulse', now - 30_000)
    await server.client.zadd('bax:dir:workers', now - 10_000, worker.id)
    expect(await bench.directory.find('ses_1', ['session'], admin)).not.toHaveProperty('lost_at')
    // Gateways do not end open requests either.
    expect(await workers()).toEqual([worker.id])
    expect(await bench.directory.reap()).toEqual([])
    expect(Number(await server.client.zscore('bax:dir:workers', worker.id))).toBeGreaterThan(now)
    // A worker that does not renew it then is lost as always.
    await server.client.zadd('bax:dir:workers', now - 10_000, worker.id)
    expect(await bench.directory.reap()).toEqual([worker.id])
  })

  test('a worker that was declared lost while it slept cannot bind, and starts over', async () => {
    const worker = await bench.startWorker({ slots: { session: 1 } }, { leaseMs: 60_000, heartbeatMs: 50 })
    const { id } = worker
    // As if its clock had stood still: for Redis the lease is over.
    await server.client.zadd('bax:dir:workers', 1, id)
    await expect(worker.bind(session('ses_1'))).rejects.toMatchObject({
      code: 'worker_lost',
      message: 'this worker has lost its lease',
    })
    await waitUntil(() => worker.id !== id)
    await worker.bind(session('ses_2'))
  })

  test('a worker that starts over keeps draining', async () => {
    const worker = await bench.startWorker({ slots: { session: 1 } }, { leaseMs: 60_000, heartbeatMs: 30 })
    await worker.drain()
    const { id } = worker
    await server.client.zadd('bax:dir:workers', 1, id)
    await waitUntil(() => worker.id !== id)
    expect(await bench.directory.workers()).toMatchObject([{ id: worker.id, state: 'draining' }])
    expect(await reserve()).toBeUndefined()
  })

  test('a worker that stops leaves nothing behind; what it still held is lost at once', async () => {
    const worker = await bench.startWorker({ slots: { session: 1 } })
    await worker.bind(session('ses_1', 'key_a', 'shop'))
    await worker.stop()
    expect(await workers()).toEqual([])
    expect(await bench.directory.find('ses_1', ['session'], admin)).toHaveProperty('lost_at')
    expect(await server.client.exists('bax:dir:counts', 'bax:dir:workers', `bax:dir:worker:${worker.id}`)).toBe(0)
    await expect(worker.bind(session('ses_2'))).rejects.toMatchObject({ code: 'worker_lost' })
  })

  test('killed and restarted with its log, Redis knows everything, and calls in between wait', async () => {
    const worker = await bench.startWorker({ slots: { session: 3 } }, { leaseMs: 60_000, heartbeatMs: 30 })
    await worker.bind(session('ses_1', 'key_a', 'shop'))
    const reserved = await bench.directory.reserve({ kind: 'session', owner: 'key_a', most: 2, name: 'next' })
    await server.kill()
    const found = bench.directory.find('shop', ['session'], callerOf('key_a'))
    const bound = worker.bind(session('ses_2', 'key_a', 'next'), reserved!.id)
    await server.start()
    expect(await found).toMatchObject({ id: 'ses_1', worker: { id: worker.id } })
    await bound
    expect(await bench.directory.workers()).toMatchObject([{ id: worker.id, used: { session: 2 } }])
    await expect(reserve()).rejects.toMatchObject({ code: 'conflict' })
    await expect(bench.directory.reserve({ kind: 'session', owner: 'key_a', most: 2 })).rejects.toMatchObject({
      code: 'too_many_sessions',
    })
  })

  test('a call fails when Redis is away for longer than it may wait', async () => {
    const hasty = openDirectory({ redis: bench.redis, reapMs: 0, answerMs: 50, ...testBuild })
    await server.kill()
    try {
      await expect(hasty.find('ses_1', ['session'], admin)).rejects.toMatchObject({
        code: 'fleet_unavailable',
        message: 'Redis does not answer',
      })
    } finally {
      await server.start()
    }
  })

  test('a worker restores what Redis lost with its last writes', async () => {
    const worker = await bench.startWorker({ slots: { session: 3 } }, { leaseMs: 60_000, heartbeatMs: 30 })
    await worker.bind(session('ses_1', 'key_a', 'shop'))
    const { client } = server
    const snapshot = await Promise.all(
      (await client.keys('bax:dir:*')).map(async (key) => [key, await client.dumpBuffer(key)] as const),
    )
    await worker.bind(session('ses_2', 'key_a', 'mail'))
    await worker.end('ses_1', 60_000)
    await worker.bind(session('ses_3', 'key_a', 'news'))
    // Back to the state before these writes, as after a crash with appendfsync everysec.
    const restore = client.multi().flushall()
    for (const [key, value] of snapshot) restore.restore(key, 0, value!)
    await restore.exec()
    const find = (name: string) => bench.directory.find(name, ['session'], callerOf('key_a'))
    await waitUntil(async () => (await find('mail'))?.id === 'ses_2' && (await find('news'))?.id === 'ses_3')
    await waitUntil(async () => (await client.hget('bax:dir:object:ses_1', 'ended')) !== null)
    expect(await bench.directory.workers()).toMatchObject([{ id: worker.id, used: { session: 2 } }])
  })

  test('a full Redis refuses new objects with a clear error, and still frees old ones', async () => {
    const worker = await bench.startWorker({ slots: { session: 3 } }, { leaseMs: 60_000, heartbeatMs: 30 })
    await worker.bind(session('ses_1', 'key_a', 'shop'))
    await server.client.config('SET', 'maxmemory', '1')
    try {
      await expect(worker.bind(session('ses_2'))).rejects.toMatchObject({
        code: 'fleet_unavailable',
        message: 'Redis has reached its memory limit',
      })
      await worker.end('ses_1', 60_000)
      expect(await bench.directory.find('ses_1', ['session'], admin)).not.toHaveProperty('lost_at')
      await bench.directory.drain(worker.id)
      await waitUntil(() => worker.draining)
    } finally {
      await server.client.config('SET', 'maxmemory', '0')
    }
  })

  test('the objects of a killed process are lost, and those of its neighbor are not', async () => {
    const host = await makeHostProgram(workerProgram)
    const start = async (id: string) => (await host.start([server.url, id])).process
    const [one, other] = await Promise.all([start('ses_1'), start('ses_2')])
    one.kill('SIGKILL')
    await waitUntil(async () => (await bench.directory.reap()).length > 0)
    expect(await bench.directory.find('ses_1', ['session'], admin)).toHaveProperty('lost_at')
    expect(await bench.directory.find('ses_2', ['session'], admin)).not.toHaveProperty('lost_at')
    other.send('stop')
    await once(other, 'exit')
    expect(await workers()).toEqual([])
    await host.close()
  })
})
