/** The contract of key stores, on files and on Redis. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Keys } from '../../../src/core/access/keys.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { KeyStore } from '../../../src/engine/store/keys.ts'
import { titled } from '../../support/needs.ts'
import { openedStores } from '../../support/fleet-stores.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const input = { name: 'ci', scopes: ['scrape' as const] }
const unauthorized = expect.objectContaining({ code: 'unauthorized' })

/** Opens another store on the same data, as another process does. */
type Open = () => Promise<Keys>

const contract = (place: () => { open: Open; damage(keyId: string): Promise<unknown> }) => {
  test('a key works at once where it was created, and soon elsewhere', async () => {
    const [here, there] = [await place().open(), await place().open()]
    const { key, key_id } = await here.create(input)
    expect(here.callerOf(key)).toEqual({ keyId: key_id, name: 'ci', scopes: ['scrape'], admin: false })
    await waitUntil(() => there.isGood(key_id))
    expect(there.callerOf(key)).toMatchObject({ keyId: key_id })
    expect(await there.list()).toContainEqual(expect.objectContaining({ key_id, status: 'active' }))
    expect(JSON.stringify(await there.list())).not.toMatch(/sha256|bax_/)
  })

  test('a revoked key is refused at once where it was revoked, and soon elsewhere', async () => {
    const [here, there] = [await place().open(), await place().open()]
    const { key, key_id } = await there.create(input)
    const lost = new Promise<void>((resolve) => there.whenLost(key_id, resolve, new AbortController().signal))
    expect(await here.revoke(key_id)).toMatchObject({ status: 'revoked' })
    expect(() => here.callerOf(key)).toThrow(unauthorized)
    await waitUntil(() => !there.isGood(key_id))
    expect(() => there.callerOf(key)).toThrow(unauthorized)
    await lost
    const { revoked_at } = await there.revoke(key_id)
    expect(await here.revoke(key_id)).toMatchObject({ revoked_at })
  })

  test('keys created at the same time by two stores are all known', async () => {
    const stores = [await place().open(), await place().open()]
    const made = await Promise.all(Array.from({ length: 20 }, (_, at) => stores[at % 2]!.create(input)))
    const third = await place().open()
    for (const { key, key_id } of made) expect(third.callerOf(key)).toMatchObject({ keyId: key_id })
  })

  test('the last use is stored', async () => {
    const store = await place().open()
    const { key, key_id } = await store.create(input)
    store.callerOf(key)
    const other = await place().open()
    const listed = async () => (await other.list()).find((one) => one.key_id === key_id)!.last_used_at
    await waitUntil(async () => (await listed()) !== null)
  })

  test('an unknown key is refused, and an unknown ID not found', async () => {
    const store = await place().open()
    await store.create(input)
    expect(() => store.callerOf(`bax_${'x'.repeat(43)}`)).toThrow(unauthorized)
    await expect(store.revoke('__proto__')).rejects.toMatchObject({ code: 'key_not_found' })
  })

  test('a damaged record grants no access, is named, and still requires a key', async () => {
    const { key, key_id } = await (await place().open()).create(input)
    await place().damage(key_id)
    const store = await place().open()
    expect(() => store.callerOf(key)).toThrow(unauthorized)
    expect(store.required()).toBe(true)
    expect(store.warning()).toContain(key_id)
    await expect(store.revoke(key_id)).rejects.toThrow(`the key ${key_id} is damaged and grants no access`)
  })
}

describe('keys in files', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  contract(() => ({
    open: async () => new KeyStore(folder),
    damage: (keyId) => writeFile(join(folder, 'keys', `${keyId}.json`), '{"key_id":'),
  }))
})

describe.skipIf(noRedis)(titled('keys in Redis', noRedis), () => {
  let redis: TestRedis
  const stores = openedStores()
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterEach(stores.closeAll)
  afterAll(() => redis.close())

  const open = async () => (await stores.open(redis)).keys

  contract(() => ({
    open,
    damage: async (keyId) => {
      const record = (await redis.client.hget('bax:keys', keyId))!
      await redis.client.hset('bax:keys', keyId, record.replace('scrape', 'admin'))
    },
  }))

  test('a record under the ID of another key grants no access', async () => {
    const { key, key_id } = await (await open()).create(input)
    const record = (await redis.client.hget('bax:keys', key_id))!
    await redis.client.hset('bax:keys', { key_copy: record, __proto__: record, 'a\u0000b': '' })
    await redis.client.hdel('bax:keys', key_id)
    const store = await open()
    expect(() => store.callerOf(key)).toThrow(unauthorized)
    expect(store.warning()).toContain('key_copy')
  })

  test('keys survive a crash of Redis, and admit callers during a short one', async () => {
    const store = await open()
    const { key, key_id } = await store.create(input)
    const gone = await store.create(input)
    await store.revoke(gone.key_id)
    await redis.kill()
    expect(store.callerOf(key)).toMatchObject({ keyId: key_id })
    await redis.start()
    const restarted = await open()
    for (const keys of [store, restarted]) {
      // Reads them, if the start took longer than a copy may be used.
      await keys.list()
      expect(keys.callerOf(key)).toMatchObject({ keyId: key_id })
      expect(() => keys.callerOf(gone.key)).toThrow(unauthorized)
    }
    expect(await store.create(input)).toMatchObject({ status: 'active' })
  })

  test('nobody is admitted by a copy that is older than ten seconds', async () => {
    const store = await open()
    const { key } = await store.create(input)
    await redis.kill()
    const later = performance.now() + limits.stores.keysAgeMs + 1000
    const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
    const notReady = expect.objectContaining({ code: 'not_ready' })
    try {
      expect(() => store.check()).toThrow(notReady)
      expect(() => store.callerOf(key)).toThrow(notReady)
      expect(store.required()).toBe(true)
    } finally {
      clock.mockRestore()
      await redis.start()
    }
    expect(await store.list()).not.toEqual([])
    expect(store.callerOf(key)).toMatchObject({ name: 'ci' })
  })

  test('without notifications, changes are found too', async () => {
    const [here, there] = [await open(), await open()]
    const { key_id } = await here.create(input)
    // Ends the connections of subscribers only; they connect again later than the change.
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await here.revoke(key_id)
    await waitUntil(() => !there.isGood(key_id))
  })
})
