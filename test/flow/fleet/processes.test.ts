/** A gateway and a worker as an operator starts them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../../support/cli.ts'
import { type ProcessFleet, startProcessFleet } from '../../support/fleet-processes.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { serveSite, type Site } from '../../support/site.ts'

describe.skipIf(noRedis)(titled('`bax serve --fleet` and `bax worker`', noRedis), () => {
  let fleet: ProcessFleet
  let site: Site
  beforeAll(async () => {
    ;[fleet, site] = await Promise.all([
      startProcessFleet(),
      serveSite({ '/': '<title>Tea</title><main><h1>Tea</h1><p>A page about tea.</main>' }),
    ])
  })
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  test('share the work; a drained worker gets no more, and both end with exit code 0', async () => {
    const [gateway, worker] = await Promise.all([fleet.addGateway(), fleet.addWorker()])
    const run = (...argv: string[]) => bax([...argv, '--server', gateway.url])
    const { session_id } = await gateway.client.createSession({ headless: true, start_url: site.url })
    expect(await run('get-title', '-s', session_id!)).toMatchObject({ code: 0, stdout: 'Tea\n' })
    expect((await run('scrape', site.url)).stdout).toContain('A page about tea.')
    expect((await run('fleet', 'status')).stdout).toMatch(new RegExp(`${worker.id} .* ready `))
    expect(await run('session', 'close', session_id!)).toMatchObject({ code: 0 })
    expect(await run('fleet', 'drain', worker.id)).toMatchObject({ code: 0 })
    expect((await run('fleet', 'status')).stdout).toMatch(new RegExp(`${worker.id} .* draining `))
    expect([await worker.stop(), await gateway.stop()]).toEqual([0, 0])
  })

  test('end while Redis is away', async () => {
    const [gateway, worker] = await Promise.all([fleet.addGateway(), fleet.addWorker()])
    await fleet.redis.kill()
    expect(await Promise.all([worker.stop(), gateway.stop()])).toEqual([0, 0])
  })
})
