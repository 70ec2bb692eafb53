import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Check } from '../../../src/cli/checks.ts'
import { checksOf } from '../../../src/cli/fleet/checks.ts'
import { buildId } from '../../../src/core/build-id.ts'
import { version } from '../../../src/core/version.ts'
import { SecretClaim } from '../../../src/fleet/directory/secret-claim.ts'
import { bax } from '../../support/cli.ts'
import { openBench } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-doctor-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function redisChecks(url: string) {
  const { code, stdout } = await bax(['doctor', '--fleet', url, '--json'], { env: { BAX_STATE_DIR: folder } })
  const { checks } = JSON.parse(stdout) as { checks: Check[] }
  return { code, checks: checks.filter(({ name }) => name.startsWith('redis')) }
}

async function fleetChecks(url: string, ...argv: string[]) {
  const run = ['doctor', '--fleet', url, ...argv, '--json']
  const { stdout } = await bax(run, { env: { BAX_STATE_DIR: folder } })
  const { checks } = JSON.parse(stdout) as { checks: Check[] }
  return checks.filter(({ name }) => name.startsWith('fleet'))
}

describe.skipIf(noRedis)(titled('`bax doctor --fleet`', noRedis), () => {
  let redis: TestRedis
  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(() => redis.close())

  test('approves of a Redis that keeps its data', async () => {
    const { code, checks } = await redisChecks(redis.url)
    expect(code).toBe(0)
    expect(checks).toMatchObject([
      {
        name: 'redis',
        needed: true,
        ok: true,
        found: expect.stringMatching(/^\d+\.[\d.]+ at redis:\/\/127\.0\.0\.1:/),
      },
      { name: 'redis persistence', ok: true },
      { name: 'redis eviction', ok: true, found: 'noeviction' },
      { name: 'redis latency', found: expect.stringMatching(/^\d+\.\d ms$/) },
      { name: 'redis clock', ok: true },
    ])
  })

  test('warns of a Redis that may lose data, and still exits 0', async () => {
    await redis.client.config('SET', 'appendonly', 'no')
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const { code, checks } = await redisChecks(redis.url)
    expect(code).toBe(0)
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'redis persistence',
        ok: false,
        mend: expect.stringContaining('appendonly yes'),
      }),
    )
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'redis eviction',
        ok: false,
        found: 'allkeys-lru',
        mend: expect.stringContaining('noeviction'),
      }),
    )
  })

  test('compares builds and clocks of workers with those of this machine', async () => {
    const bench = openBench(redis.url)
    const worker = await bench.startWorker({ build: buildId(), version })
    const same = await fleetChecks(redis.url)
    expect(same).toMatchObject([
      { name: 'fleet secret', ok: false, found: 'not checked' },
      { name: 'fleet builds', ok: true, found: 'the same as on this machine' },
      { name: 'fleet clocks', ok: true, found: 'within 5 s of this machine' },
    ])
    await redis.client.hset(`bax:dir:worker:${worker.id}`, 'skew', 60_000)
    await bench.startWorker({ build: 'b'.repeat(40), version: '2.0.0' })
    const [, builds, clocks] = await fleetChecks(redis.url)
    expect(builds).toMatchObject({ ok: false, needed: false, mend: expect.stringContaining('the same build') })
    expect(builds!.found).toMatch(
      /^this machine is bax .+, the workers are bax .+ and bax 2\.0\.0 \(build bbbbbbbbbbbb\)$/,
    )
    expect(clocks).toMatchObject({ ok: false, needed: false, mend: expect.stringContaining('NTP') })
    expect(clocks!.found).toMatch(new RegExp(`^the clock of ${worker.id} differs by (?:60\\d|599)\\d+ ms$`))
    await bench.close()
  })

  test('compares the secret with that of the fleet', async () => {
    const file = (name: string) => join(folder, name)
    await writeFile(file('own'), 'x'.repeat(48), { mode: 0o600 })
    await writeFile(file('other'), 'y'.repeat(48), { mode: 0o600 })
    const found = async (name: string) => (await fleetChecks(redis.url, '--secret-file', file(name)))[0]
    expect(await found('own')).toMatchObject({ ok: true, found: 'the fleet has none yet' })
    const claim = await SecretClaim.begin({ redis: redis.client, secret: Buffer.from('x'.repeat(48)), log: () => {} })
    expect(await found('own')).toMatchObject({ ok: true, found: 'that of the fleet' })
    expect(await found('other')).toMatchObject({
      ok: false,
      found: 'not that of the fleet',
      mend: 'use the same secret file for all gateways and workers',
    })
    claim.close()
    const missing = await bax(['doctor', '--fleet', redis.url, '--secret-file', file('missing')])
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read --secret-file') })
    const alone = await bax(['doctor', '--secret-file', file('own')])
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret-file needs --fleet') })
  })

  test('exits 3 if Redis cannot be reached, without showing the password', async () => {
    const port = await freePort()
    const { code, checks } = await redisChecks(`redis://me:secret@127.0.0.1:${port}`)
    expect(code).toBe(3)
    expect(checks).toMatchObject([{ name: 'redis', ok: false, mend: 'start Redis, or correct --fleet' }])
    expect(checks[0]!.found).toMatch(/^cannot connect to Redis at redis:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/)
  })
})

test('a slow or differently set clock is reported, with the fix', () => {
  const facts = { address: 'redis://r:6379', version: '7.0.15', appendOnly: true, evictionPolicy: 'noeviction' }
  const found = (more: { latencyMs: number; clockAheadMs: number }) =>
    checksOf({ ...facts, ...more }).flatMap((check) => (check.ok ? [] : [check.found]))
  expect(found({ latencyMs: 0.4, clockAheadMs: 1900 })).toEqual([])
  expect(found({ latencyMs: 25, clockAheadMs: -3000 })).toEqual(['25.0 ms', '3.0 s behind this machine'])
})
