import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../../src/core/config/config.ts'
import { isFleetSecret, SecretClaim } from '../../../src/fleet/directory/secret-claim.ts'
import { bax } from '../../support/cli.ts'
import { type DirectoryBench, openBench } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { failureOf } from '../../support/session-steps.ts'
import { waitUntil } from '../../support/wait.ts'

const [first, second] = ['first', 'second'].map((word) =>
  Buffer.from(`the ${word} secret of a fleet, long enough`),
) as [Buffer, Buffer]

describe.skipIf(noRedis)(titled('the secret of a fleet', noRedis), () => {
  let redis: TestRedis
  let bench: DirectoryBench
  const claims: SecretClaim[] = []
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.client.flushall()
    bench = openBench(redis.url)
  })
  afterEach(async () => {
    for (const claim of claims.splice(0)) claim.close()
    await bench.close()
  })

  const begin = async (secret: Buffer, log: Log = () => {}, leaseMs = 60_000, heartbeatMs = 60) => {
    const claim = await SecretClaim.begin({ redis: bench.connect(), secret, log, leaseMs, heartbeatMs })
    claims.push(claim)
    return claim
  }

  test('is that of the first member; only its fingerprint is in Redis', async () => {
    expect(await isFleetSecret(redis.client, first)).toBeUndefined()
    await begin(first)
    await begin(first)
    expect(await isFleetSecret(redis.client, first)).toBe(true)
    expect(await isFleetSecret(redis.client, second)).toBe(false)
    expect(await failureOf(begin(second))).toMatchObject({
      code: 'invalid_request',
      message: 'the secret is not that of the fleet: its gateways and workers have another one',
      hint: 'pass the same --secret-file to all of them; to change the secret, end all of them first',
    })
    const { fingerprint, ...others } = await redis.client.hgetall('bax:dir:secret')
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
    const time = expect.stringMatching(/^\d{13}$/)
    expect(others).toEqual({ renewed: time, since: time })
  })

  test('is not written when somebody asks whether the data was lost', async () => {
    const claim = await begin(first, () => {}, 60_000, 3_600_000)
    const writes = async () => /rdb_changes_since_last_save:(\d+)/.exec(await redis.client.info('persistence'))![1]
    const before = await writes()
    for (let times = 0; times < 10; times++) await claim.assertData()
    expect(await writes()).toBe(before)
    await redis.client.flushall()
    const lost = { code: 'fleet_unavailable', message: 'the fleet has lost its data, and its workers register again' }
    expect(await failureOf(claim.assertData())).toMatchObject(lost)
    // Other members report it too.
    expect(await redis.client.exists('bax:dir:loss')).toBe(1)
    expect(await failureOf(claim.assertData())).toMatchObject(lost)
  })

  test('is that of one process when two with different secrets start at once', async () => {
    const outcomes = await Promise.allSettled([begin(first), begin(second)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('can be changed once no member of the fleet is running', async () => {
    const old = await begin(first)
    old.close()
    const messages: string[] = []
    // Another one with the old secret may start in the meantime.
    const changing = begin(second, (_, message) => messages.push(message), 300)
    await changing
    expect(messages).toEqual(['the fleet has another secret: waiting to see whether any of its members is running'])
    expect(await isFleetSecret(redis.client, second)).toBe(true)
    expect(await failureOf(begin(first))).toMatchObject({ code: 'invalid_request' })
  })

  test('is not replaced while Redis is away', async () => {
    await begin(first)
    await redis.kill()
    await redis.start()
    expect(await failureOf(begin(second))).toMatchObject({ code: 'invalid_request' })
  })

  test('that was lost with the data of Redis is reported to members with another one, and returns to them', async () => {
    const messages: string[] = []
    await begin(first, (_, message) => messages.push(message), 300)
    await redis.client.multi().del('bax:dir:secret').hset('bax:dir:secret', 'fingerprint', 'other', 'renewed', 1).exec()
    await waitUntil(() => messages.length > 0)
    await waitUntil(async () => (await isFleetSecret(redis.client, first)) === true)
    expect(messages).toEqual([
      'Redis has lost the data of the fleet: its keys, profiles, sessions and crawls are gone',
      'the secret is not that of the fleet: its gateways and workers have another one',
    ])
  })

  describe('commands', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'bax-test-secret-'))
    })
    afterAll(() => rm(folder, { recursive: true }))

    test.each(['serve', 'worker'])('`bax %s` does not start with another secret', async (command) => {
      await begin(first)
      const file = join(folder, 'second')
      await writeFile(file, second, { mode: 0o600 })
      const flags = ['--fleet', redis.url, '--secret-file', file, '--port', '0']
      const { code, stdout, stderr } = await bax([command, ...flags], { env: { BAX_STATE_DIR: folder } })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(
        'error: the secret is not that of the fleet: its gateways and workers have another one\n',
      )
      expect(await redis.client.zcard('bax:dir:workers')).toBe(0)
    })
  })
})
