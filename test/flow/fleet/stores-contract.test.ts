/** The contract of stores of profiles, credentials, relay tokens, idempotency keys, rates and versions of pages, on one machine and on Redis. */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Caller, keylessCaller } from '../../../src/core/access/caller.ts'
import { allowancesOf } from '../../../src/core/access/quota.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import type { StorageState, Stores } from '../../../src/core/stores.ts'
import { RelayTokens } from '../../../src/engine/relay/hub/tokens.ts'
import { KeyStore } from '../../../src/engine/store/keys.ts'
import { CredentialVault, StoredCredentials } from '../../../src/engine/store/credentials.ts'
import { ProfileStore } from '../../../src/engine/store/profiles.ts'
import { VersionFolder } from '../../../src/engine/store/version-folder.ts'
import { openDirectory } from '../../../src/fleet/directory/directory.ts'
import { connectRedis } from '../../../src/fleet/redis/connect.ts'
import { RedisIdempotency } from '../../../src/fleet/stores/idempotency.ts'
import { RedisVersions } from '../../../src/fleet/stores/versions.ts'
import { RateLimiter } from '../../../src/core/access/rate-limiter.ts'
import { IdempotencyCache } from '../../../src/server/request/idempotency.ts'
import { memoryRecords } from '../../support/credential-records.ts'
import { openedStores } from '../../support/fleet-stores.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const holder = (keyId: string): Caller => ({ ...keylessCaller, keyId, name: keyId, admin: false })
const [ann, ben] = [holder('ann'), holder('ben')]
const admin: Caller = { ...keylessCaller, keyId: 'boss' }
const secret = 'a secret of the operator'
const allowances = allowancesOf({ rate: 1, burst: 3, credentials: 3 })
const credentialId = (name: string, { keyId }: Caller): string =>
  createHash('sha256')
    .update(JSON.stringify([keyId, name]))
    .digest('hex')
/** Limits of the versions of pages. */
const few = { versions: 3, bytes: 2000, fleetBytes: 2000, ageMs: 3_600_000 }
const state = (value: string) => ({
  cookies: [
    {
      name: 'login',
      value,
      domain: 'example.com',
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: true,
      sameSite: 'Lax' as const,
    },
  ],
  origins: [],
})

const request = (name: string, caller = ann, signal = new AbortController().signal) => ({
  operation: 'POST /v1/crawl',
  caller,
  headers: new Headers({ 'idempotency-key': name }),
  signal,
})

function newSignal() {
  let set!: () => void
  const done = new Promise<void>((resolve) => (set = resolve))
  return { done, set }
}

/** One place for data, opened as by several processes where the implementation allows it. */
interface Place {
  open(profileKey?: string, vaultKey?: string): Promise<Stores>
  /** Returns everything that is stored, as text. */
  stored(): Promise<string>
  /** Damages the record of a profile. */
  damage(profileId: string): Promise<unknown>
  /** Damages the record of a credential; returns its ID. */
  damageCredential(name: string, owner: Caller): Promise<string>
}

function contract(place: () => Place): void {
  describe('profiles', () => {
    test('are saved, listed, updated and deleted by their owner only', async () => {
      const { profiles } = await place().open()
      const { profile_id } = await profiles.add('work', state('one'), ann)
      expect(await profiles.load('work', ann)).toMatchObject({ profile_id, state: state('one') })
      await profiles.update(profile_id, () => state('two'))
      const again = await place().open()
      expect(await again.profiles.load(profile_id, ann)).toMatchObject({ state: state('two') })
      expect(await again.profiles.list(ben)).toEqual([])
      await expect(again.profiles.get(profile_id, ben)).rejects.toMatchObject({ code: 'profile_not_found' })
      await again.profiles.delete(profile_id, ann)
      await expect(profiles.load('work', ann)).rejects.toMatchObject({ code: 'profile_not_found' })
      await expect(profiles.update(profile_id, () => state('three'))).rejects.toMatchObject({
        code: 'profile_not_found',
      })
      expect(await profiles.list(ann)).toEqual([])
    })

    test('lose no change when they are changed at the same time', async () => {
      const stores = await Promise.all([place().open(), place().open()])
      const { profile_id } = await stores[0]!.profiles.add('counted', state('0'), ann)
      const count = (before: StorageState) => state(String(Number(before.cookies[0]!.value) + 1))
      await Promise.all([0, 1, 0, 1].map((at) => stores[at]!.profiles.update(profile_id, count)))
      expect(await stores[1]!.profiles.load('counted', ann)).toMatchObject({ state: state('4') })
    })

    test('contain nothing readable when encrypted, and need the same key', async () => {
      const { profiles } = await place().open(secret)
      const { profile_id } = await profiles.add('annabel', state('let-me-in'), ann)
      expect(await place().stored()).not.toMatch(/annabel|let-me-in|example\.com/)
      const again = await place().open(secret)
      expect(await again.profiles.load('annabel', ann)).toMatchObject({ profile_id, state: state('let-me-in') })
      for (const key of ['another secret of somebody', undefined]) {
        const other = await place().open(key)
        await expect(other.profiles.load(profile_id, ann)).rejects.toMatchObject({ code: 'profile_locked' })
      }
    })

    test('do not share a name when they are saved at the same time', async () => {
      const { profiles } = await place().open()
      const saved = await Promise.allSettled(Array.from({ length: 8 }, () => profiles.add('same', state('x'), ann)))
      expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const refused = saved.flatMap((one) => (one.status === 'rejected' ? [(one.reason as BaxError).code] : []))
      expect(new Set(refused)).toEqual(new Set(['already_exists']))
      expect(await profiles.add('same', state('x'), ben)).toMatchObject({ name: 'same' })
    })

    test('that are damaged are skipped, named to admins, and can be deleted', async () => {
      const { profiles } = await place().open()
      const [good, bad] = [await profiles.add('good', state('x'), ann), await profiles.add('bad', state('x'), ann)]
      await place().damage(bad.profile_id)
      const unreadable = vi.fn()
      expect(await profiles.list(ann, unreadable)).toMatchObject([{ profile_id: good.profile_id }])
      expect(unreadable).not.toHaveBeenCalled()
      await profiles.list(admin, unreadable)
      expect(unreadable).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(bad.profile_id))
      await expect(profiles.load(bad.profile_id, admin)).rejects.toMatchObject({ code: 'profile_not_found' })
      await expect(profiles.delete(bad.profile_id, ann)).rejects.toMatchObject({ code: 'profile_not_found' })
      await profiles.delete(bad.profile_id, admin)
      await profiles.list(admin, unreadable)
      expect(unreadable).toHaveBeenCalledOnce()
    })

    test('of another profile key lock no others, and can be deleted by admins', async () => {
      const keyless = (await place().open()).profiles
      const { profile_id: plain } = await keyless.add('plain', state('x'), ann)
      const { profile_id } = await (await place().open(secret)).profiles.add('locked', state('x'), ben)
      const { profiles } = await place().open('another secret of somebody')
      const unreadable = vi.fn()
      expect(await profiles.list(ann, unreadable)).toMatchObject([{ profile_id: plain }])
      await profiles.list(admin, unreadable)
      expect(unreadable.mock.calls).toEqual([
        ['one saved profile, of any key, cannot be decrypted with this profile key'],
        [`one saved profile (${profile_id}), of any key, cannot be decrypted with this profile key`],
      ])
      expect(await profiles.load('plain', ann)).toMatchObject({ profile_id: plain })
      await expect(profiles.load('locked', ben)).rejects.toThrow('one saved profile, of any key, cannot be decrypted')
      await expect(profiles.load(profile_id, ben)).rejects.toMatchObject({ code: 'profile_locked' })
      await expect(keyless.add('readable', state('x'), ann)).rejects.toMatchObject({ code: 'profile_locked' })
      expect(await profiles.add('locked', state('y'), ann)).toMatchObject({ name: 'locked' })
      await expect(profiles.delete(profile_id, ben)).rejects.toMatchObject({ code: 'profile_locked' })
      await profiles.delete(profile_id, admin)
      await profiles.list(admin, unreadable)
      expect(unreadable).toHaveBeenCalledTimes(2)
    })
  })

  describe('relay tokens', () => {
    const input = { ttl_secs: 60, single_use: true }

    test('are shown once, and listed and revoked by their owner only', async () => {
      const { relayTokens } = await place().open()
      const { token, token_id } = await relayTokens.create({ ...input, name: 'laptop' }, keylessCaller)
      expect(await place().stored()).not.toContain(token)
      expect(await relayTokens.list(keylessCaller)).toMatchObject([{ token_id, name: 'laptop', last_used_at: null }])
      expect(await relayTokens.list(ann)).toEqual([])
      await expect(relayTokens.revoke(token_id, ann)).rejects.toMatchObject({ code: 'token_not_found' })
      const revoked: string[] = []
      relayTokens.onRevoked((id) => revoked.push(id))
      await relayTokens.admit(token)
      await relayTokens.revoke(token_id, keylessCaller)
      await waitUntil(() => revoked.length > 0)
      expect(revoked).toEqual([token_id])
      await expect(relayTokens.admit(token)).rejects.toMatchObject({ code: 'unauthorized' })
      await expect(relayTokens.revoke(token_id, keylessCaller)).rejects.toMatchObject({ code: 'token_not_found' })
    })

    test('for single use connect once, and only resume afterwards', async () => {
      const { relayTokens } = await place().open()
      const { token, token_id } = await relayTokens.create(input, keylessCaller)
      const admitted = await Promise.all(Array.from({ length: 10 }, () => relayTokens.admit(token)))
      expect(admitted.filter(({ onlyResumes }) => !onlyResumes)).toEqual([
        { tokenId: token_id, owner: null, transport: 'ws', onlyResumes: false },
      ])
      expect((await relayTokens.list(keylessCaller))[0]!.last_used_at).not.toBeNull()
      const many = await relayTokens.create({ ...input, single_use: false }, keylessCaller)
      for (const _ of [1, 2]) expect(await relayTokens.admit(many.token)).toMatchObject({ onlyResumes: false })
    })

    test('are refused when they are unknown, expired, or belong to a key that does not exist', async () => {
      const { relayTokens } = await place().open()
      const expired = await relayTokens.create({ ...input, ttl_secs: 0 }, keylessCaller)
      const foreign = await relayTokens.create(input, ann)
      for (const token of [expired.token, foreign.token, 'rlt_unknown', ''])
        await expect(relayTokens.admit(token)).rejects.toMatchObject({ code: 'unauthorized' })
      expect(await relayTokens.list(keylessCaller)).toMatchObject([{ token_id: foreign.token_id }])
    })
  })

  describe('idempotency keys', () => {
    test('run the same request once, and answer it twice', async () => {
      const { idempotency } = await place().open()
      let runs = 0
      const work = async () => ({ id: `crl_${(runs += 1)}` })
      const once = () => idempotency.once(request('a'), { url: 'x' }, work)
      expect(await Promise.all([once(), once(), once()])).toEqual([1, 2, 3].map(() => ({ id: 'crl_1' })))
      expect(await once()).toEqual({ id: 'crl_1' })
      await expect(idempotency.once(request('a'), { url: 'y' }, work)).rejects.toMatchObject({ code: 'conflict' })
      expect(await idempotency.once(request('a', ben), { url: 'x' }, work)).toEqual({ id: 'crl_2' })
      expect(await idempotency.once(request(''), { url: 'x' }, work)).toEqual({ id: 'crl_3' })
    })

    test('report an earlier request before its result', async () => {
      const { idempotency } = await place().open()
      const found: string[] = []
      let finish = (_text: string) => {}
      const begun = newSignal()
      const send = (name: string, work: () => Promise<string>) =>
        idempotency.once({ ...request('f'), onFound: () => void found.push(name) }, {}, work)
      const first = send('first', () => {
        begun.set()
        return new Promise<string>((resolve) => (finish = resolve))
      })
      await begun.done
      const second = send('second', async () => 'again')
      await waitUntil(() => found.includes('second'))
      finish('done')
      expect(await Promise.all([first, second])).toEqual(['done', 'done'])
      expect(found).not.toContain('first')
    })

    test('do not keep errors, which those who wait receive', async () => {
      const { idempotency } = await place().open()
      let runs = 0
      let fail!: (error: Error) => void
      const failing = () => {
        runs += 1
        return new Promise((_, reject) => (fail = reject))
      }
      const both = [1, 2].map(() => idempotency.once(request('b'), {}, failing))
      await waitUntil(() => runs === 1)
      fail(new BaxError('no_capacity', 'not now', { hint: 'wait', retryAfterSecs: 7 }))
      for (const one of both)
        await expect(one).rejects.toMatchObject({
          code: 'no_capacity',
          message: 'not now',
          hint: 'wait',
          retryAfterSecs: 7,
        })
      expect(runs).toBe(1)
      expect(await idempotency.once(request('b'), {}, async () => 'second')).toBe('second')
    })

    test('are not displaced by calls of MCP, of which fewer are kept', async () => {
      const { idempotency, calls } = await place().open()
      const call = (at: number) => calls.once(request(`call ${at}`), {}, async () => at)
      expect(await idempotency.once(request('d'), {}, async () => 'first')).toBe('first')
      for (let at = 0; at < limits.mcp.repeats.kept + 10; at += 1) await call(at)
      expect(await calls.once(request('call 0'), {}, async () => 'again')).toBe('again')
      expect(await idempotency.once(request('d'), {}, async () => 'second')).toBe('first')
    })

    test('pass to the one who waits when the first client disconnects', async () => {
      const { idempotency } = await place().open()
      const gone = new AbortController()
      const begun = newSignal()
      const aborted = () => {
        begun.set()
        return new Promise((_, reject) =>
          gone.signal.addEventListener('abort', () => reject(gone.signal.reason as Error)),
        )
      }
      const first = idempotency.once(request('c', ann, gone.signal), {}, aborted)
      await begun.done
      const second = idempotency.once(request('c'), {}, async () => 'mine')
      gone.abort()
      await expect(first).rejects.toThrow()
      expect(await second).toBe('mine')
    })
  })

  describe('versions of pages', () => {
    const version = (markdown: string) => ({ at: new Date().toISOString(), status: 200, markdown })
    const page = (name: string) => name.repeat(64)

    test('are replaced, and private to their caller', async () => {
      const { versions } = await place().open()
      const key = { owner: 'ann', page: page('a') }
      expect(await versions.find(key)).toBeUndefined()
      await versions.save(key, version('one'))
      await versions.save(key, version('two'))
      expect(await versions.find(key)).toMatchObject({ markdown: 'two', status: 200 })
      expect(await versions.find({ ...key, owner: 'ben' })).toBeUndefined()
      expect(await versions.find({ ...key, owner: null })).toBeUndefined()
    })

    test('are limited in number and in bytes: the oldest ones are deleted', async () => {
      const { versions } = await place().open()
      const kept = async () => {
        const found = await Promise.all(
          ['a', 'b', 'c', 'd'].map((name) => versions.find({ owner: 'ann', page: page(name) })),
        )
        return found.map((one) => one?.markdown)
      }
      await versions.save({ owner: 'ben', page: page('a') }, version('of ben'))
      for (const name of ['a', 'b', 'c', 'd']) await versions.save({ owner: 'ann', page: page(name) }, version(name))
      expect(await kept()).toEqual([undefined, 'b', 'c', 'd'])
      const long = 'x'.repeat(1850)
      await versions.save({ owner: 'ann', page: page('d') }, version(long))
      expect(await kept()).toEqual([undefined, undefined, undefined, long])
      expect(await versions.find({ owner: 'ben', page: page('a') })).toMatchObject({ markdown: 'of ben' })
    })
  })

  describe('credentials', () => {
    const login = { name: 'shop', origins: ['https://shop.example/login'], username: 'ann', password: 'correct horse' }

    test('are stored encrypted, and listed, rotated and deleted by their owner only', async () => {
      const { credentials } = await place().open()
      const added = await credentials.add(login, ann)
      expect(added).toMatchObject({ name: 'shop', origins: ['https://shop.example'], parts: ['username', 'password'] })
      const stored = await place().stored()
      for (const text of ['shop', 'correct horse']) expect(stored).not.toContain(text)
      await expect(credentials.add(login, ann)).rejects.toMatchObject({ code: 'already_exists' })
      await credentials.add({ ...login, password: "Ben's own" }, ben)
      const again = (await place().open()).credentials
      expect(await again.list(ann)).toEqual([added])
      expect(await again.list(admin)).toEqual([])
      await again.rotate('shop', { password: 'battery staple', totp: 'JBSWY3DPEHPK3PXP' }, ann)
      expect(await again.use('shop', ann)).toMatchObject({ username: 'ann', password: 'battery staple' })
      expect(await again.use('shop', ben)).toMatchObject({ password: "Ben's own" })
      expect((await credentials.list(ann))[0]!.parts).toEqual(['username', 'password', 'totp'])
      await credentials.delete('shop', ann)
      await expect(again.use('shop', ann)).rejects.toMatchObject({ code: 'credential_not_found' })
      await expect(again.delete('shop', ann)).rejects.toMatchObject({ code: 'credential_not_found' })
      expect(await again.list(ben)).toMatchObject([{ name: 'shop' }])
    })

    test('keep both of two rotations at once, and stay deleted', async () => {
      const { credentials } = await place().open()
      const again = (await place().open()).credentials
      await credentials.add(login, ann)
      await Promise.all([
        credentials.rotate('shop', { password: 'battery staple' }, ann),
        again.rotate('shop', { username: 'bob' }, ann),
        credentials.rotate('shop', { totp: 'JBSWY3DPEHPK3PXP' }, ann),
      ])
      const all = { username: 'bob', password: 'battery staple', totp: 'JBSWY3DPEHPK3PXP' }
      expect(await credentials.use('shop', ann)).toMatchObject(all)
      const rotated = again.rotate('shop', { username: 'eve' }, ann).catch((error: unknown) => error)
      await credentials.delete('shop', ann)
      expect(await rotated).toBeDefined()
      expect(await credentials.list(ann)).toEqual([])
    })

    test('do not lock the names of others with one record of another vault key', async () => {
      await (await place().open(undefined, 'first vault key of all')).credentials.add(login, ann)
      const other = (await place().open(undefined, 'another vault key')).credentials
      await other.add(login, ben)
      const warnings: string[] = []
      expect(await other.list(ben, (warning) => warnings.push(warning))).toMatchObject([{ name: 'shop' }])
      expect(warnings).toEqual([expect.stringMatching(/^1 stored credentials, of any key, cannot be decrypted/)])
      await expect(other.use('missing', ben)).rejects.toMatchObject({ code: 'credential_not_found' })
      await expect(other.delete('missing', ben)).rejects.toMatchObject({ code: 'credential_not_found' })
    })

    test('that are damaged do not affect others, are reported, and can be deleted and added again', async () => {
      const { credentials } = await place().open()
      for (const name of ['good', 'bad']) await credentials.add({ ...login, name }, ann)
      await credentials.add(login, ben)
      await place().damageCredential('bad', ann)
      const warnings: string[] = []
      const list = (caller: Caller, from = credentials) => from.list(caller, (warning) => warnings.push(warning))
      const again = (await place().open()).credentials
      expect(await list(ben, again)).toMatchObject([{ name: 'shop' }])
      for (const _ of [1, 2]) expect(await list(ann, again)).toMatchObject([{ name: 'good' }])
      const repair = 'for each name that is missing here, run "bax credential delete NAME", and add it again'
      for (const warning of warnings) expect(warning).toMatch(/^1 stored credentials, of any key, .*damaged/)
      expect(warnings[2]).toContain(repair)
      const hint = 'run "bax credential delete bad", and add it again'
      for (const use of [() => again.use('bad', ann), () => again.rotate('bad', { password: 'x' }, ann)])
        await expect(use()).rejects.toMatchObject({ message: 'the credential bad is damaged', hint })
      expect(await again.add({ ...login, name: 'new' }, ann)).toMatchObject({ name: 'new' })
      await again.delete('bad', ann)
      await credentials.add({ ...login, name: 'bad' }, ann)
      warnings.length = 0
      expect((await list(ann, again)).map(({ name }) => name)).toEqual(['bad', 'good', 'new'])
      expect(warnings).toEqual([])
    })

    test('that are damaged are reported by name after they were read, and can be deleted by ID by an admin', async () => {
      const { credentials } = await place().open()
      await credentials.add(login, ann)
      // Stores of a fleet share the work of this test: both read it.
      for (const _ of [1, 2]) await credentials.list(ann)
      const id = await place().damageCredential('shop', ann)
      const warnings: string[] = []
      for (const caller of [ann, ben]) await credentials.list(caller, (warning) => warnings.push(warning))
      expect(warnings).toEqual(['the credential shop is damaged: run "bax credential delete shop", and add it again'])
      await (await place().open()).credentials.list(admin, (warning) => warnings.push(warning))
      expect(warnings[1]).toContain(id)
      await expect(credentials.delete(id, ben)).rejects.toMatchObject({ code: 'credential_not_found' })
      await credentials.delete(id, admin)
      await credentials.add(login, ann)
      await expect(credentials.delete(id, admin)).rejects.toMatchObject({ code: 'credential_not_found' })
    })

    test('are readable with their vault key only, and can be deleted with any', async () => {
      const { credentials } = await place().open(undefined, 'first vault key of all')
      await credentials.add(login, ann)
      const other = (await place().open(undefined, 'another vault key')).credentials
      await expect(other.use('shop', ann)).rejects.toMatchObject({ code: 'credential_locked' })
      await expect(other.list(ann)).rejects.toMatchObject({ code: 'credential_locked' })
      await other.delete('shop', ann)
      expect(await credentials.list(ann)).toEqual([])
    })

    test('are limited for each key, also when they are added at the same time', async () => {
      const { credentials } = await place().open()
      const add = (name: string, caller = ann) => credentials.add({ ...login, name }, caller)
      for (const name of ['a', 'b', 'c']) await add(name)
      const beyond = await Promise.allSettled(['d', 'e', 'f'].map((name) => add(name)))
      for (const one of beyond) {
        const reason = { code: 'rate_limited', details: { limit: 'credentials', most: 3 } }
        expect(one).toMatchObject({ status: 'rejected', reason })
      }
      expect((await credentials.list(ann)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
      await expect(add('a')).rejects.toMatchObject({ code: 'already_exists' })
      await add('d', ben)
      await credentials.delete('b', ann)
      expect(await add('d')).toMatchObject({ name: 'd' })
    })

    test('are used at a limited rate by each key', async () => {
      const { credentials } = await place().open()
      for (const caller of [ann, ben]) await credentials.add(login, caller)
      const { burst } = limits.credentials.uses
      // More than are allowed again while the test runs.
      const uses = await Promise.allSettled(Array.from({ length: 10 * burst }, () => credentials.use('shop', ann)))
      expect(uses.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(burst)
      const refused = uses.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown)
      expect(refused[0]).toMatchObject({ code: 'rate_limited', retryAfterSecs: expect.any(Number) })
      expect(await credentials.use('shop', ben)).toMatchObject({ name: 'shop' })
    })

    test('are no larger than their limit', async () => {
      const { credentials } = await place().open()
      const origins = Array.from({ length: 100 }, (_, at) => `https://${'x'.repeat(1000)}${at}.example`)
      await expect(credentials.add({ ...login, origins }, ann)).rejects.toMatchObject({ code: 'invalid_request' })
      expect(await credentials.list(ann)).toEqual([])
    })

    test('take only a secret of one-time codes that makes codes', async () => {
      const { credentials } = await place().open()
      for (const totp of ['not base32!', 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1', 'otpauth://totp/x']) {
        const failed = await credentials.add({ ...login, totp }, ann).catch((error: unknown) => error)
        expect(failed).toMatchObject({ code: 'invalid_request', message: expect.not.stringContaining(totp) })
      }
    })
  })

  describe('rates', () => {
    test('allow a burst for each key, and no more', async () => {
      const { rates } = await place().open()
      const counted = await Promise.all([1, 2, 3, 4].map(() => rates.count(ann)))
      expect(counted.map((one) => one!.allowed).toSorted()).toEqual([false, true, true, true])
      expect(counted.find((one) => !one!.allowed)).toMatchObject({ rate: 1, burst: 3, remaining: 0, retrySecs: 1 })
      expect(await rates.count(ben)).toMatchObject({ allowed: true, remaining: 2 })
      expect(await rates.count({ ...keylessCaller, admin: false, keyId: null })).toBeUndefined()
    })
  })
}

test('credentials of other keys are read once, and do not delay the next list, name or addition', async () => {
  const records = memoryRecords()
  const uses = new RateLimiter(allowances)
  const store = new StoredCredentials(records, async () => 'vault key of this machine', { allowances, uses })
  const login = { origins: ['https://shop.example'], password: 'correct horse' }
  for (const name of ['a', 'b', 'c']) await store.add({ ...login, name }, ann)
  await store.add({ ...login, name: 'a' }, ben)
  records.listed.length = 0
  expect(await store.list(ben)).toMatchObject([{ name: 'a' }])
  await expect(store.use('none', ben)).rejects.toMatchObject({ code: 'credential_not_found' })
  await store.add({ ...login, name: 'b' }, ben)
  expect(records.listed).toHaveLength(4)
  expect(await store.list(admin)).toEqual([])
  expect((await store.list(ann)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})

describe('stores of one machine', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-stores-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  contract(() => ({
    open: async (profileKey, vaultKey) => {
      const keys = new KeyStore(folder)
      return {
        keys,
        profiles: new ProfileStore(folder, profileKey),
        credentials: new CredentialVault(folder, vaultKey, allowances),
        relayTokens: new RelayTokens(folder, keys),
        idempotency: new IdempotencyCache(),
        calls: new IdempotencyCache(limits.mcp.repeats),
        rates: new RateLimiter(allowances),
        versions: new VersionFolder(folder, few),
      }
    },
    stored: async () => {
      const names = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n')
    },
    damage: async (profileId) => {
      const path = join(folder, 'profiles', `${profileId}.json`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '{"profile_id":')
    },
    damageCredential: async (name, owner) => {
      const id = credentialId(name, owner)
      await writeFile(join(folder, 'credentials', `${id}.json`), '{"sealed":')
      return id
    },
  }))
})

describe.skipIf(noRedis)(titled('stores in Redis', noRedis), () => {
  let redis: TestRedis
  const stores = openedStores()
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(() => redis.client.flushall())
  afterEach(stores.closeAll)
  afterAll(() => redis.close())

  const open = (profileKey?: string, vaultKey = 'vault key of the fleet') =>
    stores.open(redis, { allowances, vaultKey, ...(profileKey !== undefined && { profileKey }) })

  /** Two sets of stores that share the work of each test, as two gateways behind a load balancer do. */
  const balanced = async (profileKey?: string, vaultKey?: string): Promise<Stores> => {
    const both = [await open(profileKey, vaultKey), await open(profileKey, vaultKey)]
    let calls = 0
    const alternate = <Part extends keyof Stores>(part: Part): Stores[Part] =>
      new Proxy(both[0]![part], {
        get:
          (_, name) =>
          (...args: unknown[]) => {
            if (name === 'onRevoked') return both.map((one) => one.relayTokens.onRevoked(args[0] as never))
            // A warning is about the last list of the same gateway.
            const at = part === 'profiles' ? 0 : (calls += 1) % 2
            const target = both[at]![part] as unknown as Record<string | symbol, (...args: unknown[]) => unknown>
            return target[name]!(...args)
          },
      })
    return {
      keys: both[0]!.keys,
      profiles: alternate('profiles'),
      credentials: alternate('credentials'),
      relayTokens: alternate('relayTokens'),
      idempotency: alternate('idempotency'),
      calls: alternate('calls'),
      rates: alternate('rates'),
      versions: new RedisVersions(redis.client, few),
    }
  }

  contract(() => ({
    open: balanced,
    stored: async () => {
      const hashes = await Promise.all(['bax:profiles', 'bax:relay-tokens'].map((name) => redis.client.hgetall(name)))
      return JSON.stringify(hashes)
    },
    damage: async (profileId) => {
      const record = (await redis.client.hget('bax:profiles', profileId))!
      await redis.client.hset('bax:profiles', profileId, record.replace('login', 'logon'))
    },
    damageCredential: async (name, owner) => {
      const id = credentialId(name, owner)
      expect(await redis.client.hset('bax:credentials', id, '{"sealed":')).toBe(0)
      return id
    },
  }))

  test('everything survives a crash of Redis', async () => {
    const { profiles, relayTokens, idempotency, rates } = await open(secret)
    await profiles.add('work', state('x'), ann)
    const { token } = await relayTokens.create({ ttl_secs: 60, single_use: true }, keylessCaller)
    await relayTokens.admit(token)
    await idempotency.once(request('a'), {}, async () => 'first')
    for (const _ of [1, 2, 3]) await rates.count(ann)
    await redis.kill()
    await redis.start()
    const again = await open(secret)
    expect(await again.profiles.load('work', ann)).toMatchObject({ state: state('x') })
    expect(await again.relayTokens.admit(token)).toMatchObject({ onlyResumes: true })
    expect(await again.idempotency.once(request('a'), {}, async () => 'second')).toBe('first')
    expect((await again.rates.count(ann))!.remaining).toBeLessThan(3)
    // The stores from before the crash are connected again.
    expect(await profiles.list(ann)).toHaveLength(1)
  })

  test('requests fail while Redis is away, and when it is full', async () => {
    const { profiles, relayTokens, idempotency, rates } = await open()
    const attempts = () => [
      profiles.add('work', state('x'), ann),
      relayTokens.create({ ttl_secs: 60, single_use: true }, keylessCaller),
      idempotency.once(request('a'), {}, async () => 'first'),
      rates.count(ann)!,
    ]
    await redis.client.config('SET', 'maxmemory', '1')
    for (const attempt of await Promise.allSettled(attempts()))
      expect(attempt).toMatchObject({
        reason: { code: 'fleet_unavailable', message: 'Redis has reached its memory limit' },
      })
    await redis.kill()
    for (const attempt of await Promise.allSettled(attempts()))
      expect(attempt).toMatchObject({
        reason: { code: 'fleet_unavailable', message: 'Redis does not answer', status: 503 },
      })
    await redis.start()
  })

  test('the key of a request is free again when its gateway has died', async () => {
    const connection = await connectRedis({ url: redis.url, log: () => {} })
    const dying = new RedisIdempotency(connection, () => {}, { leaseMs: 200 })
    const begun = newSignal()
    void dying.once(request('a'), {}, () => {
      begun.set()
      return new Promise(() => {})
    })
    await begun.done
    connection.disconnect()
    const { idempotency } = await open()
    expect(await idempotency.once(request('a'), {}, async () => 'second')).toBe('second')
  })

  test('the key of a request stays taken while Redis is away, for longer than the lease', async () => {
    const connection = await connectRedis({ url: redis.url, log: () => {} })
    const living = new RedisIdempotency(connection, () => {}, { leaseMs: 1000 })
    const done = newSignal()
    const first = living.once(request('a'), {}, async () => {
      await done.done
      return 'first'
    })
    await waitUntil(async () => (await redis.client.keys('bax:repeat:*')).length === 1)
    // A gateway looked for lost workers for the last time before the lease was renewed for the last time.
    const [seconds] = await redis.client.time()
    await redis.client.set('bax:dir:pulse', (Number(seconds) - 10) * 1000)
    await redis.kill()
    const awayAt = performance.now()
    await waitUntil(() => performance.now() > awayAt + 1500)
    await redis.start()
    const { idempotency } = await open()
    const second = idempotency.once(request('a'), {}, async () => 'second')
    // Gateways look again, which ends the pause, but not the time for renewals.
    await openDirectory({ redis: connection, build: 'b', version: '1', reapMs: 0 }).reap()
    done.set()
    expect(await Promise.all([first, second])).toEqual(['first', 'first'])
    connection.disconnect()
    await redis.client.del('bax:dir:pulse', 'bax:dir:pause')
  })

  test('the response of a request is stored even if Redis is full', async () => {
    const { idempotency } = await open()
    const full = await idempotency.once(request('full'), {}, async () => {
      await redis.client.config('SET', 'maxmemory', '1')
      return 'first'
    })
    await redis.client.config('SET', 'maxmemory', '0')
    expect(full).toBe('first')
    expect(await idempotency.once(request('full'), {}, async () => 'second')).toBe('first')
  })

  test('the key of a request stays taken while its gateway lives', async () => {
    const connection = await connectRedis({ url: redis.url, log: () => {} })
    const living = new RedisIdempotency(connection, () => {}, { leaseMs: 1000 })
    const begunAt = performance.now()
    const first = living.once(request('a'), {}, async () => {
      await waitUntil(() => performance.now() > begunAt + 2500)
      return 'first'
    })
    await waitUntil(async () => (await redis.client.keys('bax:repeat:*')).length === 1)
    const { idempotency } = await open()
    expect(await idempotency.once(request('a'), {}, async () => 'second')).toBe('first')
    expect(await first).toBe('first')
    connection.disconnect()
  })

  test('a damaged response is an error, and does not run the request again', async () => {
    const { idempotency } = await open()
    await idempotency.once(request('a'), {}, async () => 'first')
    const [name] = await redis.client.keys('bax:repeat:*')
    await redis.client.hset(name!, 'value', '{"answer":"forged","$check":"0000000000000000"}')
    const again = idempotency.once(request('a'), {}, async () => 'second')
    await expect(again).rejects.toMatchObject({ code: 'engine_failed', message: expect.stringContaining('damaged') })
  })

  test('at most a thousand responses are kept for one caller', async () => {
    const { idempotency } = await open()
    const send = (at: number) => idempotency.once(request(`key ${at}`), {}, async () => at)
    for (let at = 0; at < 5; at += 1) await send(at)
    await Promise.all(Array.from({ length: 1000 }, (_, at) => send(5 + at)))
    expect(await redis.client.keys('bax:repeat:*')).toHaveLength(1000)
    expect(await idempotency.once(request('key 1004'), {}, async () => 'again')).toBe(1004)
    expect(await idempotency.once(request('key 0'), {}, async () => 'again')).toBe('again')
  })

  test('values that others wrote grant nothing, and break nothing else', async () => {
    const { relayTokens, profiles, credentials, rates } = await open()
    const { token, token_id } = await relayTokens.create({ ttl_secs: 60, single_use: true }, keylessCaller)
    const [[sha256, record]] = Object.entries(await redis.client.hgetall('bax:relay-tokens')) as [[string, string]]
    const forged = { [sha256]: record.replace('"owner":null', '"owner":"boss"'), '': '', x: 'null', __proto__: record }
    const copied = 'f'.repeat(64)
    await redis.client.hset('bax:relay-tokens', { ...forged, [copied]: record })
    await redis.client.hset('bax:relay-token-uses', token_id, 'never')
    expect(await relayTokens.list(admin)).toEqual([])
    await expect(relayTokens.admit(token)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await relayTokens.create({ ttl_secs: 60, single_use: true }, keylessCaller)).toHaveProperty('token')
    const { profile_id } = await profiles.add('work', state('x'), ann)
    const plain = (await redis.client.hget('bax:profiles', profile_id))!
    const id = '11111111-1111-4111-8111-111111111111'
    const without = JSON.stringify({ profile_id: id, name: 'a', created_at: '', state: { cookies: [] } })
    await redis.client.hset('bax:profiles', { '../../etc/passwd': plain, [id]: without })
    expect(await profiles.list(ann)).toMatchObject([{ profile_id }])
    await redis.client.set('bax:rate:ann', 'inf nan')
    expect(await rates.count(ann)).toMatchObject({ allowed: false, remaining: 0 })
    const forgedIds = ['', 'x', 'f'.repeat(64)]
    for (const [at, id] of forgedIds.entries()) await redis.client.hset('bax:credentials', id, ['', 'null', plain][at]!)
    expect(await credentials.add({ name: 'shop', origins: ['https://shop.example'], password: 'x' }, ann)).toBeDefined()
    expect(await credentials.list(ann)).toMatchObject([{ name: 'shop' }])
    await redis.client.del('bax:rate:ben')
    await redis.client.lpush('bax:rate:ben', 'x')
    await expect(rates.count(ben)).rejects.toMatchObject({
      code: 'fleet_unavailable',
      message: expect.stringContaining('WRONGTYPE'),
    })
  })
})
