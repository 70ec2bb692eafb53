/** A fleet whose Redis comes back empty: nobody is let in, what is gone is reported, and it continues with a new key. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../support/client.ts'
import { overHttp } from '../../../src/client/transport.ts'
import type { BaxError } from '../../../src/core/errors/errors.ts'
import { operations } from '../../../src/operations/index.ts'
import { bax } from '../../support/cli.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { startProcessFleet } from '../../support/fleet-processes.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { request } from '../../support/server.ts'
import { servedWithinMs } from '../../support/served.ts'
import { failureOf } from '../../support/session-steps.ts'
import { waitUntil } from '../../support/wait.ts'

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))
const lost = 'Redis has lost the data of the fleet: its keys, profiles, sessions and crawls are gone'

describe.skipIf(noRedis)(titled('a fleet that lost its data', noRedis), () => {
  let fleet: TestFleet | undefined
  afterEach(async () => {
    await fleet?.close()
    fleet = undefined
  })

  test('lets nobody in, reports the loss, and ends sessions with 410', async () => {
    fleet = await startFleet([{}, {}])
    const { engine, url, messages } = fleet.gateway
    const adminOf = async () => {
      const { key } = await engine.keys.create({ name: 'ops', scopes: ['admin'] })
      return { key, client: createClient(overHttp(url, { 'x-api-key': key }), addressed) }
    }
    const before = await adminOf()
    const sessions = await Promise.all(
      ['one', 'two'].map((name) => before.client.createSession({ requested_name: name })),
    )
    expect(await before.client.getFleet({})).toMatchObject({ data_lost_at: null })
    const registered = new Set(fleet.workers.map(({ id }) => id))

    await fleet.redis.client.flushall()
    const headers = { 'x-api-key': before.key }
    await waitUntil(async () => (await request(url, 'GET', '/sessions', undefined, headers)).status === 401)
    expect(await request(url, 'GET', '/sessions')).toMatchObject({ status: 401 })

    const { client, key } = await adminOf()
    const ends = sessions.flatMap(({ session_id, name }) => [session_id!, name!])
    for (const session_id of ends) {
      let failure: BaxError
      await waitUntil(async () => {
        failure = await failureOf(client.getSession({ session_id }))
        // Until their workers have registered again, nobody knows whether the sessions exist.
        expect([503, 410]).toContain(failure.status)
        return failure.status === 410
      })
      expect(failure!).toMatchObject({ code: 'session_closed', details: { reason: 'worker_lost' } })
    }
    let status = await client.getFleet({})
    await waitUntil(async () => {
      status = await client.getFleet({})
      return status.workers.length === 2 && status.data_lost_at !== null
    })
    expect(status.workers.filter(({ worker_id }) => registered.has(worker_id))).toEqual([])
    expect(status.warning).toBe(`${lost} (since ${status.data_lost_at})`)
    expect(Math.abs(Date.now() - Date.parse(status.data_lost_at!))).toBeLessThan(120_000)
    // Each member notices it at its next heartbeat.
    await waitUntil(() => messages().includes(lost))
    const metrics = await fetch(`${url}/metrics`, { headers: { 'x-api-key': key } })
    expect(await metrics.text()).toContain('\nbax_fleet_data_lost 1\n')
    const unknown = async () => (await failureOf(client.getSession({ session_id: 'ses_never' }))).code
    await waitUntil(async () => (await unknown()) === 'session_not_found')
    expect(await client.createSession({ requested_name: 'one' })).toMatchObject({ status: 'ready' })
    expect(messages().filter((message) => message === lost)).toHaveLength(1)
    // Nothing is left of registrations that are gone.
    const hashes = await fleet.redis.client.keys('bax:dir:worker:*')
    expect(hashes).toHaveLength(2)
  })
})

describe.skipIf(noRedis)(titled('`bax serve --fleet` without a key', noRedis), () => {
  let redis: TestRedis
  let folder: string
  beforeAll(async () => {
    redis = await startRedis()
    folder = await mkdtemp(join(tmpdir(), 'bax-test-keyless-'))
    await writeFile(join(folder, 'secret'), 'x'.repeat(64), { mode: 0o600 })
  })
  afterAll(async () => {
    await redis.close()
    await rm(folder, { recursive: true })
  })
  const env = () => ({ BAX_STATE_DIR: join(folder, 'state') })
  const serve = (...flags: string[]) =>
    bax(['serve', '--fleet', redis.url, '--secret-file', join(folder, 'secret'), '--port', '0', ...flags], {
      env: env(),
    })

  test.each([[[]], [['--host', '::1']], [['--host', 'localhost']]])('does not start %j', async (flags) => {
    const { code, stdout, stderr } = await serve(...flags)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('error: the fleet has no active API key\nhint: ')
    expect(stderr).toContain('--no-keys')
  })

  test('does not start with --no-keys where other machines can connect, nor after the last key was revoked', async () => {
    expect(await serve('--no-keys', '--host', '0.0.0.0')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error: serving on 0.0.0.0 needs an API key'),
    })
    const options = { env: env() }
    await bax(['key', 'create', 'ops', '--scopes', 'admin', '--embedded'], options)
    await bax(['key', 'revoke', 'ops', '--embedded'], options)
    expect(await bax(['fleet', 'import', '--fleet', redis.url], options)).toMatchObject({ code: 0 })
    expect(await serve()).toMatchObject({ code: 2, stderr: expect.stringContaining('the fleet has no active API key') })
  })

  test('--no-keys is rejected without a fleet', async () => {
    const { code, stderr } = await bax(['serve', '--port', '0', '--no-keys'], { env: env() })
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: --no-keys needs --fleet'])
  })

  test(
    'starts with --no-keys, says so, and requires a key as soon as there is one',
    async () => {
      const fleet = await startProcessFleet()
      try {
        const gateway = await fleet.addGateway()
        expect(gateway.log()).toContain('no API key is required: every program on this machine can use the server')
        expect(await request(gateway.url, 'GET', '/fleet')).toMatchObject({ status: 200 })
        await gateway.client.createKey({ name: 'ops', scopes: ['admin'] })
        expect(await request(gateway.url, 'GET', '/fleet')).toMatchObject({ status: 401 })
        const second = await fleet.addGateway()
        expect(second.log()).not.toContain('no API key is required')
        expect(await request(second.url, 'GET', '/fleet')).toMatchObject({ status: 401 })
      } finally {
        await fleet.close()
      }
    },
    servedWithinMs,
  )
})
