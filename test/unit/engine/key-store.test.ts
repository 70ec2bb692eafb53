import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { KeyStore } from '../../../src/engine/store/keys.ts'
import { waitUntil } from '../../support/wait.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-keys-'))
})
afterEach(() => rm(folder, { recursive: true }))

const input = (expires?: string) => ({ name: 'ci', scopes: ['scrape' as const], ...(expires && { expires }) })
const day = 24 * 60 * 60_000
const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'unauthorized', message: expect.stringMatching(message) })

describe('keys', () => {
  test('are returned once and stored as a hash in a private file', async () => {
    const { key, key_id } = await new KeyStore(folder).create(input())
    expect(key).toMatch(/^bax_[\w-]{43}$/)
    const path = join(folder, 'keys', `${key_id}.json`)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o700)
    const text = await readFile(path, 'utf8')
    expect(text).not.toContain(key.slice(4))
    expect(JSON.parse(text)).toMatchObject({
      key_id,
      name: 'ci',
      scopes: ['scrape'],
      sha256: expect.stringMatching(/^[\da-f]{64}$/),
    })
    expect(JSON.stringify(await new KeyStore(folder).list())).not.toMatch(/sha256|bax_/)
  })

  test('created or revoked by another process are known at once', async () => {
    const [here, there] = [new KeyStore(folder), new KeyStore(folder)]
    expect(here.required()).toBe(false)
    const made = await there.create(input())
    expect(here.required()).toBe(true)
    const caller = { keyId: made.key_id, name: 'ci', scopes: ['scrape'], admin: false }
    expect(here.callerOf(made.key)).toEqual(caller)
    const second = await there.create({ name: 'boss', scopes: ['admin'] })
    expect(here.callerOf(second.key)).toMatchObject({ admin: true })
    await there.revoke(made.key_id)
    expect(() => here.callerOf(made.key)).toThrow(refused(/revoked/))
    expect(here.isGood(made.key_id)).toBe(false)
    expect(here.callerOf(second.key)).toMatchObject({ name: 'boss' })
  })

  test.each([
    ['90m', 90 * 60_000],
    ['30d', 30 * day],
    ['2w', 14 * day],
  ])('are valid for %s', async (expires, ms) => {
    let now = Date.parse('2030-01-01T00:00:00Z')
    const store = new KeyStore(folder, () => now)
    const { key, expires_at } = await store.create(input(expires))
    expect(expires_at).toBe(new Date(now + ms).toISOString())
    now += ms - 1
    store.callerOf(key)
    now += 1
    expect(() => store.callerOf(key)).toThrow(refused(/expired/))
    expect(await store.list()).toMatchObject([{ status: 'expired' }])
  })

  test('expire at a point in time, or at the end of a day', async () => {
    const store = new KeyStore(folder, () => Date.parse('2030-01-01T00:00:00Z'))
    expect(await store.create(input('2030-02-03T04:05:06+01:00'))).toMatchObject({
      expires_at: '2030-02-03T03:05:06.000Z',
    })
    expect(await store.create(input('2030-02-03'))).toMatchObject({ expires_at: '2030-02-04T00:00:00.000Z' })
  })

  test.each(['soon', '30', '0d', '-1d', '99999999d', '2029-12-01', '2030-13-01T00:00:00Z'])(
    'reject the expiry %j',
    async (expires) => {
      const store = new KeyStore(folder, () => Date.parse('2030-01-01T00:00:00Z'))
      await expect(store.create(input(expires))).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'expires' }],
      })
      expect(store.required()).toBe(false)
    },
  )

  test('are revoked permanently by ID or by a unique name', async () => {
    const store = new KeyStore(folder)
    const [one, two] = [await store.create(input()), await store.create(input())]
    await expect(store.revoke('ci')).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(one.key_id),
    })
    const { revoked_at } = await store.revoke(one.key_id)
    expect(await store.revoke(one.key_id)).toMatchObject({ status: 'revoked', revoked_at })
    expect(await store.revoke('ci')).toMatchObject({ key_id: two.key_id })
    await expect(store.revoke('ci')).rejects.toMatchObject({ code: 'key_not_found' })
  })

  test('stay required when the last one is revoked, and when their files are removed', async () => {
    const store = new KeyStore(folder)
    const { key, key_id } = await store.create(input())
    await store.revoke(key_id)
    expect([store.required(), new KeyStore(folder).required()]).toEqual([true, true])
    await rm(join(folder, 'keys'), { recursive: true })
    expect(store.required()).toBe(true)
    expect(() => store.callerOf(key)).toThrow(refused(/unknown key/))
  })

  test('store when they were last used, also for other processes', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z')
    const store = new KeyStore(folder, () => now)
    const { key } = await store.create(input())
    expect(await store.list()).toMatchObject([{ last_used_at: null }])
    const first = new Date(now).toISOString()
    store.callerOf(key)
    now += limits.keys.noteMs - 1
    store.callerOf(key)
    expect(await new KeyStore(folder).list()).toMatchObject([{ last_used_at: first }])
    now += 1
    store.callerOf(key)
    expect(await new KeyStore(folder).list()).toMatchObject([{ last_used_at: new Date(now).toISOString() }])
  })

  test('notify listeners when they are revoked', async () => {
    const store = new KeyStore(folder)
    const [mine, other] = [await store.create(input()), await store.create(input())]
    const lost: string[] = []
    const over = new AbortController()
    const { signal } = new AbortController()
    store.whenLost(null, () => lost.push('nobody'), signal)
    store.whenLost(mine.key_id, () => lost.push('mine'), signal)
    store.whenLost(mine.key_id, () => lost.push('over'), over.signal)
    store.whenLost(other.key_id, () => lost.push('other'), signal)
    over.abort()
    await new KeyStore(folder).revoke(mine.key_id)
    await waitUntil(() => lost.length > 0)
    store.whenLost(mine.key_id, () => lost.push('late'), signal)
    expect(lost).toEqual(['mine', 'late'])
  })

  test('leave no temporary files behind', async () => {
    const store = new KeyStore(folder)
    await Promise.all(Array.from({ length: 20 }, () => store.create(input())))
    const names = await readdir(join(folder, 'keys'))
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect(new Set((await store.list()).map(({ key_id }) => key_id)).size).toBe(20)
  })
})
