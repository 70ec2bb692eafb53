import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Check } from '../../../src/cli/checks.ts'
import { checksOf } from '../../../src/cli/fleet/checks.ts'
import { bax } from '../../support/cli.ts'
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

describe.skipIf(noRedis)(titled('`bax doctor --fleet`', noRedis), () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())

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
    expect(checks).toContainEqual(expect.objectContaining({ name: 'redis persistence', ok: false, mend: expect.stringContaining('appendonly yes') })) // prettier-ignore
    expect(checks).toContainEqual(expect.objectContaining({ name: 'redis eviction', ok: false, found: 'allkeys-lru', mend: expect.stringContaining('noeviction') })) // prettier-ignore
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
