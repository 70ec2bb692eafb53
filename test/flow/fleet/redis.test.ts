import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFleet } from '../../../src/cli/serve/fleet.ts'
import { assertVersion, connectRedis } from '../../../src/fleet/redis/connect.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { freePort } from '../../support/ports.ts'

describe.skipIf(noRedis)(titled('the connection to Redis', noRedis), () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())

  test('continues commands that were sent while Redis was away', async () => {
    const lines: string[] = []
    const connection = await connectRedis({ url: redis.url, log: (_, message) => lines.push(message) })
    await connection.set('a', '1')
    await redis.kill()
    const answer = connection.get('a')
    await redis.start()
    expect(await answer).toBe('1')
    expect(lines).toEqual(['the connection to Redis is lost', 'the connection to Redis is back'])
    connection.disconnect()
  })

  test('warns gateways and workers of a Redis that loses data in a crash', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-test-redis-'))
    const secretFile = join(folder, 'secret')
    await writeFile(secretFile, 'x'.repeat(48), { mode: 0o600 })
    const linesOf = async () => {
      const lines: unknown[] = []
      const fleet = await openFleet({ url: redis.url, secretFile }, (...line) => lines.push(line))
      fleet.close()
      return lines
    }
    expect(await linesOf()).toEqual([])
    await redis.client.config('SET', 'appendonly', 'no')
    expect(await linesOf()).toEqual([
      [
        'warn',
        'Redis: append-only file is off: a crash loses data',
        { hint: 'set "appendonly yes" in the configuration of Redis' },
      ],
    ])
    await rm(folder, { recursive: true })
  })

  test('reports an address without Redis, and hides the password', async () => {
    const url = `redis://user:secret@127.0.0.1:${await freePort()}`
    const error = (await connectRedis({ url, log: () => {} }).catch((thrown: unknown) => thrown)) as Error
    expect(error).toMatchObject({ code: 'fleet_unavailable', hint: 'start Redis, or correct --fleet' })
    expect(error.message).toMatch(/cannot connect to Redis at redis:\/\/127\.0\.0\.1:\d+: /)
  })
})

test('refuses a Redis that is too old', () => {
  expect(() => assertVersion('redis_version:6.2.7\r\n')).toThrow('Redis 6.2.7 is too old: 7.0 or newer is needed')
  expect(() => assertVersion('redis_version:7.0.15\r\n')).not.toThrow()
})
