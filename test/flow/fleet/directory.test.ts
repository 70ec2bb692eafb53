import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import type { BoundKind, SlotKind } from '../../../src/core/fleet.ts'
import { openDirectory } from '../../../src/fleet/directory/directory.ts'
import { callerOf, type DirectoryBench, openBench, testBuild } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const errorOf = async (work: Promise<unknown>): Promise<BaxError> => {
  const error = await work.then(
    (value) => new Error(`no error but ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(BaxError)
  return error as BaxError
}

describe.skipIf(noRedis)(titled('the directory of a fleet', noRedis), () => {
  let server: TestRedis
  let bench: DirectoryBench
  beforeAll(async () => {
    server = await startRedis({ appendfsync: 'no' })
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    await server.client.flushall()
    bench = openBench(server.url)
  })
  afterEach(() => bench.close())

  const reserve = (kind: SlotKind = 'session', owner: string | null = null, name?: string, most = 0) =>
    bench.directory.reserve({ kind, owner, most, ...(name !== undefined && { name }) })
  const session = (id: string, owner: string | null = null, name: string | null = null) => ({
    id,
    kind: 'session' as BoundKind,
    owner,
    name,
  })
  const used = async () => Object.fromEntries((await bench.directory.workers()).map(({ id, used }) => [id, used]))
  /** Keys that remain, apart from the registrations and tombstones. */
  const rest = async () =>
    (await server.client.keys('bax:dir:*')).filter(
      (key) => !/^bax:dir:(?:workers?|gone|free|load|object|past)(?::|$)/.test(key),
    )

  describe('placement', () => {
    test('takes the worker with the least part of its slots in use', async () => {
      const small = await bench.startWorker({ slots: { session: 2 } })
      const large = await bench.startWorker({ slots: { session: 4 } })
      const chosen: string[] = []
      for (let at = 0; at < 6; at++) chosen.push((await reserve())!.worker.id)
      expect(chosen.filter((id) => id === small.id)).toHaveLength(2)
      expect(chosen.filter((id) => id === large.id)).toHaveLength(4)
      // After one on each, the large one has a quarter in use and the small one a half.
      expect(chosen[2]).toBe(large.id)
      expect(await reserve()).toBeUndefined()
    })

    test('passes over the excluded workers', async () => {
      const [small, large] = [
        await bench.startWorker({ slots: { session: 1 } }),
        await bench.startWorker({ slots: { session: 2 } }),
      ]
      const place = (...except: string[]) =>
        bench.directory.reserve({ kind: 'session', owner: null, most: 0, except: new Set(except) })
      expect((await place(small.id))!.worker.id).toBe(large.id)
      expect((await place(large.id))!.worker.id).toBe(small.id)
      expect(await place(large.id)).toBeUndefined()
      expect(await place(small.id, large.id)).toBeUndefined()
      expect((await place())!.worker.id).toBe(large.id)
    })

    test('counts every kind of slot on its own', async () => {
      const worker = await bench.startWorker({ slots: { session: 1, shell: 1 } })
      expect((await reserve('session'))!.worker).toEqual({ id: worker.id, url: expect.stringMatching(/^http:/) })
      expect((await reserve('shell'))!.worker.id).toBe(worker.id)
      expect(await reserve('relay')).toBeUndefined()
      expect(await used()).toEqual({ [worker.id]: { session: 1, shell: 1, relay: 0 } })
    })

    test('limits what an owner holds, and names the limit', async () => {
      await bench.startWorker({ slots: { session: 5 } })
      const first = await reserve('session', 'key_a', undefined, 2)
      await reserve('session', 'key_a', undefined, 2)
      expect(await errorOf(reserve('session', 'key_a', undefined, 2))).toMatchObject({
        code: 'too_many_sessions',
        message: 'the limit of 2 browser sessions per key is reached',
      })
      expect(await reserve('session', 'key_b', undefined, 2)).toBeDefined()
      await bench.directory.release(first!.id)
      expect(await reserve('session', 'key_a', undefined, 2)).toBeDefined()
    })

    test('keeps the names of an owner unique, per kind', async () => {
      await bench.startWorker({ slots: { session: 5, shell: 5 } })
      const first = await reserve('session', 'key_a', 'shop')
      const error = await errorOf(reserve('session', 'key_a', 'shop'))
      expect(error).toMatchObject({ code: 'conflict', message: 'a live session is already named "shop"' })
      expect(await reserve('session', 'key_b', 'shop')).toBeDefined()
      expect(await reserve('shell', 'key_a', 'shop')).toBeDefined()
      await bench.directory.release(first!.id)
      expect(await reserve('session', 'key_a', 'shop')).toBeDefined()
    })

    test('releases a reservation once, and leaves nothing behind', async () => {
      const worker = await bench.startWorker({ slots: { session: 2 } })
      const [first, second] = [await reserve('session', 'key_a', 'x'), await reserve()]
      await bench.directory.release(first!.id)
      await bench.directory.release(first!.id)
      expect((await used())[worker.id]!.session).toBe(1)
      await bench.directory.release(second!.id)
      expect(await rest()).toEqual([])
    })

    test('frees a reservation that is not bound in time', async () => {
      const worker = await bench.startWorker({ slots: { session: 1 } })
      const hasty = openDirectory({ redis: bench.redis, reapMs: 0, reservationMs: 1, ...testBuild })
      await hasty.reserve({ kind: 'session', owner: 'key_a', most: 0, name: 'x' })
      await waitUntil(() => reserve('session', 'key_a', 'x').then(Boolean, () => false))
      expect((await used())[worker.id]!.session).toBe(1)
    })

    test('gives pages to the worker with the least load, counting those that are running', async () => {
      const [busy, idle] = [await bench.startWorker({ pages: 1 }), await bench.startWorker({ pages: 3 })]
      const chosen: string[] = []
      for (let at = 0; at < 4; at++) chosen.push((await bench.directory.leastLoaded('render'))!.worker.id)
      expect(chosen.filter((id) => id === busy.id)).toHaveLength(1)
      expect(chosen.filter((id) => id === idle.id)).toHaveLength(3)
      expect((await bench.directory.leastLoaded('render', new Set([idle.id])))!.worker.id).toBe(busy.id)
      expect(await bench.directory.leastLoaded('render', new Set([idle.id, busy.id]))).toBeUndefined()
    })

    test('gives pages only to workers with the label', async () => {
      const worker = await bench.startWorker({ labels: ['shell', 'render'] })
      expect((await bench.directory.leastLoaded('render'))!.worker.id).toBe(worker.id)
      expect(await bench.directory.leastLoaded('browser')).toBeUndefined()
    })

    test('gives equal affinities the same worker while it has a free page slot', async () => {
      const workers = []
      for (let at = 0; at < 4; at++) workers.push(await bench.startWorker({ labels: ['render'], pages: 100 }))
      const place = async (affinity: string, ...except: string[]) => {
        const { worker, done } = (await bench.directory.leastLoaded('render', new Set(except), affinity))!
        done()
        return worker.id
      }
      // So many that each worker, whose ID is random, is the first for one of them.
      const urls = Array.from({ length: 100 }, (_, at) => `https://example.com/${at}`)
      const first = await Promise.all(urls.map((url) => place(url)))
      expect(await Promise.all(urls.map((url) => place(url)))).toEqual(first)
      expect(new Set(first).size).toBe(4)
      // Requests that have ended are no load.
      for (let at = 0; at < 120; at++) expect(await place(urls[0]!)).toBe(first[0])
      // Excluded and full ones are replaced, always by the same other one.
      const second = await place(urls[0]!, first[0]!)
      expect(second).not.toBe(first[0])
      await server.client.zadd(`bax:dir:load:${testBuild.build}:render`, 1, first[0]!)
      expect(await place(urls[0]!)).toBe(second)
      for (const { id } of workers) await server.client.zadd(`bax:dir:load:${testBuild.build}:render`, 1, id)
      expect(workers.map(({ id }) => id)).toContain(await place(urls[0]!))
    })
  })

  describe('bound objects', () => {
    test('an object takes over the slot, the count and the name of its reservation', async () => {
      const worker = await bench.startWorker({ slots: { session: 3 } })
      const reserved = await reserve('session', 'key_a', 'shop', 1)
      await worker.bind(session('ses_1', 'key_a', 'shop'), reserved!.id)
      expect((await used())[worker.id]!.session).toBe(1)
      expect((await errorOf(reserve('session', 'key_a', undefined, 1))).code).toBe('too_many_sessions')
      // It is no reservation any more.
      await bench.directory.release(reserved!.id)
      expect((await used())[worker.id]!.session).toBe(1)
      const found = await bench.directory.find('ses_1', ['session'], callerOf('key_a'))
      expect(found).toEqual({
        id: 'ses_1',
        kind: 'session',
        owner: 'key_a',
        name: 'shop',
        worker: { id: worker.id, url: expect.any(String) },
      })
      expect(await bench.directory.find('shop', ['session'], callerOf('key_a'))).toEqual(found)
    })

    test('a reservation for another worker, owner or name is given back', async () => {
      const [one, other] = [
        await bench.startWorker({ slots: { session: 2 } }),
        await bench.startWorker({ slots: { session: 2 } }),
      ]
      const reserved = await reserve('session', 'key_a', 'shop')
      const [right, wrong] = reserved!.worker.id === one.id ? [one, other] : [other, one]
      await wrong.bind(session('ses_1', 'key_a', 'shop'), reserved!.id)
      expect(await used()).toMatchObject({ [right.id]: { session: 0 }, [wrong.id]: { session: 1 } })
      const named = await reserve('session', 'key_a', 'mail')
      expect(named!.worker.id).toBe(right.id)
      await right.bind(session('ses_2', 'key_a', 'news'), named!.id)
      expect(await used()).toMatchObject({ [right.id]: { session: 1 }, [wrong.id]: { session: 1 } })
      expect(await reserve('session', 'key_a', 'mail')).toBeDefined()
    })

    test('an object without a reservation takes a slot, and its name must be free', async () => {
      const worker = await bench.startWorker({ slots: { session: 1 } })
      await worker.bind(session('ses_1', 'key_a', 'shop'))
      expect(await reserve()).toBeUndefined()
      const error = await errorOf(worker.bind(session('ses_2', 'key_a', 'shop')))
      expect(error).toMatchObject({ code: 'conflict', message: 'a live session is already named "shop"' })
      expect((await used())[worker.id]!.session).toBe(1)
      expect(await bench.directory.find('ses_2', ['session'], callerOf('key_a'))).toBeUndefined()
    })

    test('objects without slots are found by ID and limit nothing', async () => {
      const worker = await bench.startWorker({ slots: { shell: 1 } })
      await worker.bind({ id: 'ex_1', kind: 'exec', owner: null, name: null })
      expect(await bench.directory.find('ex_1', ['exec'], callerOf(null, true))).toMatchObject({ id: 'ex_1' })
      expect(await bench.directory.find('ex_1', ['session', 'shell'], callerOf(null, true))).toBeUndefined()
      expect((await used())[worker.id]).toEqual({ session: 0, shell: 0, relay: 0 })
    })

    test('an ended object frees its slot and name, and is found until its tombstone expires', async () => {
      const worker = await bench.startWorker({ slots: { session: 1 } })
      await worker.bind(session('ses_1', 'key_a', 'shop'))
      await worker.end('ses_1', 60_000)
      await worker.end('ses_1', 60_000)
      const found = await bench.directory.find('ses_1', ['session'], callerOf('key_a'))
      expect(found).toMatchObject({ id: 'ses_1', worker: { id: worker.id } })
      expect(found).not.toHaveProperty('lost_at')
      expect(await bench.directory.find('shop', ['session'], callerOf('key_a'))).toEqual(found)
      // A live one with the same name comes first.
      await worker.bind(session('ses_2', 'key_a', 'shop'))
      expect(await bench.directory.find('shop', ['session'], callerOf('key_a'))).toMatchObject({ id: 'ses_2' })
      await worker.end('ses_2', 1)
      await waitUntil(async () => !(await bench.directory.find('ses_2', ['session'], callerOf('key_a'))))
      expect((await used())[worker.id]!.session).toBe(0)
      expect(await rest()).toEqual([])
    })

    test('several relays of one owner may have one name', async () => {
      const worker = await bench.startWorker({ slots: { relay: 3 } })
      const relay = (id: string) => ({ id, kind: 'relay' as const, owner: 'key_a', name: 'laptop' })
      await worker.bind(relay('rly_1'))
      await worker.bind(relay('rly_2'))
      const find = () => bench.directory.find('laptop', ['relay'], callerOf('key_a'))
      expect((await find())!.id).toBe('rly_1')
      await worker.end('rly_1', 0)
      expect((await find())!.id).toBe('rly_2')
    })

    test('a worker ends only its own objects', async () => {
      const [one, other] = [
        await bench.startWorker({ slots: { session: 1 } }),
        await bench.startWorker({ slots: { session: 1 } }),
      ]
      await one.bind(session('ses_1'))
      await other.end('ses_1', 0)
      expect((await used())[one.id]!.session).toBe(1)
    })
  })

  describe('visibility', () => {
    beforeEach(async () => {
      const worker = await bench.startWorker({ slots: { session: 9 } })
      await worker.bind(session('ses_a', 'key_a', 'shop'))
      await worker.bind(session('ses_b', 'key_b', 'shop'))
      await worker.bind(session('ses_c', 'key_b', 'mail'))
      await worker.bind(session('ses_n', null, 'old'))
      await worker.bind(session('ses_e', 'key_b', 'gone'))
      await worker.end('ses_e', 60_000)
    })
    const find = async (idOrName: string, keyId: string | null, admin = false) =>
      (await bench.directory.find(idOrName, ['session'], callerOf(keyId, admin)))?.id

    test.each([
      ['ses_a', 'key_a', 'ses_a'],
      ['ses_b', 'key_a', undefined],
      ['shop', 'key_a', 'ses_a'],
      ['mail', 'key_a', undefined],
      ['gone', 'key_a', undefined],
      ['gone', 'key_b', 'ses_e'],
      ['old', null, undefined],
      ['ses_n', null, undefined],
    ])('%s, asked for by the key %s: %s', async (idOrName, keyId, found) => {
      expect(await find(idOrName, keyId)).toBe(found)
    })

    test('an admin sees everything, prefers its own, and must choose between several others', async () => {
      expect(await find('ses_b', 'key_z', true)).toBe('ses_b')
      expect(await find('mail', 'key_z', true)).toBe('ses_c')
      expect(await find('gone', 'key_z', true)).toBe('ses_e')
      expect(await find('shop', 'key_b', true)).toBe('ses_b')
      expect(await find('old', null, true)).toBe('ses_n')
      const error = await errorOf(find('shop', 'key_z', true))
      expect(error).toMatchObject({ code: 'conflict', message: '2 keys use the name "shop"' })
    })
  })

  describe('workers', () => {
    test('are listed with load, build and the time since the last heartbeat', async () => {
      const worker = await bench.startWorker({ slots: { session: 2 }, pages: 7 })
      await worker.bind(session('ses_1'))
      const [record] = await bench.directory.workers()
      expect(record).toMatchObject({
        id: worker.id,
        labels: ['browser', 'render', 'shell', 'relay'],
        slots: { session: 2, shell: 0, relay: 0 },
        used: { session: 1, shell: 0, relay: 0 },
        pages: 7,
        busy_pages: 0,
        state: 'ready',
        ...testBuild,
      })
      expect(Math.abs(Date.parse(record!.seen_at) - Date.now())).toBeLessThan(10_000)
      expect(record!.age_ms).toBeLessThan(10_000)
    })

    test('a drained worker gets nothing new, and keeps what it has', async () => {
      let drained = 0
      const worker = await bench.startWorker(
        { slots: { session: 2 } },
        { heartbeatMs: 20, onDrain: () => (drained += 1) },
      )
      await worker.bind(session('ses_1'))
      await bench.directory.drain(worker.id)
      expect(await reserve()).toBeUndefined()
      expect(await bench.directory.leastLoaded('render')).toBeUndefined()
      expect(await bench.directory.find('ses_1', ['session'], callerOf(null, true))).toMatchObject({ id: 'ses_1' })
      await waitUntil(() => worker.draining)
      await worker.end('ses_1', 0)
      expect(await reserve()).toBeUndefined()
      expect((await bench.directory.workers())[0]).toMatchObject({ state: 'draining', used: { session: 0 } })
      await bench.directory.drain(worker.id)
      expect(drained).toBe(1)
    })

    test('draining an unknown worker fails', async () => {
      expect(await errorOf(bench.directory.drain('wrk_none'))).toMatchObject({
        code: 'worker_not_found',
        message: 'no worker has the id "wrk_none"',
      })
    })

    test('gateways use workers of their own build, and name both versions when there are only others', async () => {
      const upgraded = openDirectory({ redis: bench.redis, reapMs: 0, build: 'b'.repeat(40), version: '2.0.0' })
      const place = () => upgraded.reserve({ kind: 'session', owner: null, most: 0 })
      expect(await place()).toBeUndefined()
      const old = await bench.startWorker({ slots: { session: 2 } })
      await old.bind(session('ses_1'))
      const message = 'this is bax 2.0.0 (build bbbbbbbbbbbb), but all workers run bax 1.0.0 (build aaaaaaaaaaaa)'
      await waitUntil(async () => (await place().catch((error: Error) => error.message)) === message)
      expect(await errorOf(upgraded.leastLoaded('render'))).toMatchObject({ code: 'fleet_unavailable', message })
      // Sessions on workers of the other build stay reachable.
      expect(await upgraded.find('ses_1', ['session'], callerOf(null, true))).toMatchObject({ id: 'ses_1' })
      const current = await bench.startWorker({ slots: { session: 1 }, build: 'b'.repeat(40), version: '2.0.0' })
      expect((await place())!.worker.id).toBe(current.id)
      expect((await reserve())!.worker.id).toBe(old.id)
    })
  })
})
