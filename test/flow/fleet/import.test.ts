import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import type { ImportReport } from '../../../src/fleet/import/import.ts'
import { RelayTokens } from '../../../src/engine/relay/hub/tokens.ts'
import { KeyStore } from '../../../src/engine/store/keys.ts'
import { ProfileStore } from '../../../src/engine/store/profiles.ts'
import { bax } from '../../support/cli.ts'
import { openedStores } from '../../support/fleet-stores.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { waitUntil } from '../../support/wait.ts'

const input = { name: 'ci', scopes: ['scrape' as const] }
const state = { cookies: [], origins: [] }
const secret = 'a secret of the operator'
const unauthorized = expect.objectContaining({ code: 'unauthorized' })

describe.skipIf(noRedis)(titled('`bax fleet import`', noRedis), () => {
  let redis: TestRedis
  let folder: string
  const stores = openedStores()
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    await redis.client.flushall()
    folder = await mkdtemp(join(tmpdir(), 'bax-test-import-'))
  })
  afterEach(async () => {
    stores.closeAll()
    await rm(folder, { recursive: true })
  })
  afterAll(() => redis.close())

  const run = (...flags: string[]) => bax(['fleet', 'import', folder, '--fleet', redis.url, ...flags])
  const report = async (...flags: string[]) => JSON.parse((await run('--json', ...flags)).stdout) as ImportReport

  test('copies keys, profiles and relay tokens, and a second run changes nothing', async () => {
    const fleet = await stores.open(redis, { profileKey: secret })
    const keys = new KeyStore(folder)
    const [good, revoked] = [await keys.create(input), await keys.create(input)]
    await keys.revoke(revoked.key_id)
    await new ProfileStore(folder, secret).add('work', state, { ...keylessCaller, keyId: good.key_id })
    const tokens = new RelayTokens(folder, keys)
    const fresh = await tokens.create({ ttl_secs: 60, single_use: true }, keylessCaller)
    const used = await tokens.create({ ttl_secs: 60, single_use: true }, keylessCaller)
    await tokens.admit(used.token)
    const first = await run()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toBe('keys: 2 imported\nprofiles: 1 imported\nrelay tokens: 2 imported\n')
    await waitUntil(() => fleet.keys.isGood(good.key_id))
    expect(fleet.keys.callerOf(good.key)).toMatchObject({ keyId: good.key_id })
    expect(() => fleet.keys.callerOf(revoked.key)).toThrow(unauthorized)
    expect(await fleet.profiles.load('work', { ...keylessCaller, keyId: good.key_id })).toMatchObject({ state })
    expect(await fleet.relayTokens.admit(fresh.token)).toMatchObject({ onlyResumes: false })
    expect(await fleet.relayTokens.admit(used.token)).toMatchObject({ onlyResumes: true })
    const before = await redis.client.hgetall('bax:profiles')
    expect((await run()).stdout).toBe(
      'keys: 0 imported, 2 unchanged\nprofiles: 0 imported, 1 unchanged\nrelay tokens: 0 imported, 2 unchanged\n',
    )
    expect(await redis.client.hgetall('bax:profiles')).toEqual(before)
    expect(await fleet.relayTokens.admit(fresh.token)).toMatchObject({ onlyResumes: true })
  })

  test('keeps records that differ in Redis, unless they are to be replaced', async () => {
    const store = new ProfileStore(folder)
    const { profile_id } = await store.add('work', state, keylessCaller)
    await run()
    await store.update(profile_id, () => ({ ...state, origins: [{ origin: 'https://example.com', localStorage: [] }] }))
    const fleet = await stores.open(redis)
    const skipped = [{ id: profile_id, why: 'differs in Redis; pass --overwrite to replace it' }]
    expect(await report()).toMatchObject({ profiles: { imported: 0, skipped }, unencrypted_profiles: 1 })
    expect(await fleet.profiles.get('work', keylessCaller)).toMatchObject({ origins: [] })
    expect(await report('--overwrite')).toMatchObject({ profiles: { replaced: 1, skipped: [] } })
    expect(await fleet.profiles.get('work', keylessCaller)).toMatchObject({ origins: ['https://example.com'] })
    expect((await run()).stderr).toBe(
      '1 of the profiles are not encrypted: save them again with a profile key to encrypt them\n',
    )
  })

  test('revokes keys that were revoked in the folder, and never the other way round', async () => {
    const keys = new KeyStore(folder)
    const [here, there] = [await keys.create(input), await keys.create(input)]
    await run()
    const fleet = await stores.open(redis)
    await fleet.keys.revoke(there.key_id)
    await keys.revoke(here.key_id)
    const skipped = [{ id: there.key_id, why: 'is revoked in Redis' }]
    expect(await report('--overwrite')).toMatchObject({ keys: { replaced: 1, skipped } })
    await waitUntil(() => !fleet.keys.isGood(here.key_id))
    expect(fleet.keys.isGood(there.key_id)).toBe(false)
  })

  test('names damaged files, leaves them where they are, and exits 1', async () => {
    const { key_id } = await new KeyStore(folder).create(input)
    await new KeyStore(folder).create(input)
    await writeFile(join(folder, 'keys', `${key_id}.json`), '{"key_id":')
    await writeFile(join(folder, 'relay-tokens.json'), '')
    const { code, stdout } = await run()
    expect(code).toBe(1)
    expect(stdout).toBe(
      `keys: 1 imported, 1 damaged\n  keys/${key_id}.json is damaged: it is not JSON\n` +
        'profiles: 0 imported\nrelay tokens: 0 imported, 1 damaged\n  relay-tokens.json is damaged: it is empty\n',
    )
    expect((await readdir(folder, { recursive: true })).filter((name) => name.includes('.damaged-'))).toEqual([])
  })

  test('needs a Redis and a state folder', async () => {
    expect(await bax(['fleet', 'import', folder])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--fleet is required'),
    })
    const wrong = await bax(['fleet', 'import', folder, '--fleet', 'http://me:secret@host'])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--fleet must be a URL of Redis, not "http://host"'),
    })
    const missing = join(folder, 'missing')
    expect(await bax(['fleet', 'import', missing, '--fleet', redis.url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`no state folder at ${missing}`),
    })
    const away = await bax(['fleet', 'import', folder, '--fleet', `redis://127.0.0.1:${await freePort()}`, '--json'])
    expect(away.code).toBe(3)
    expect(JSON.parse(away.stdout || away.stderr)).toMatchObject({ code: 'fleet_unavailable' })
    expect(away.stderr).not.toContain('lost')
  })
})
