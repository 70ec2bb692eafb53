/** Requests in flight while their worker or their gateway is killed. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { upload } from '../../../src/client/client.ts'
import type { BaxError } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { labels } from '../../../src/engine/shell/docker/engine-identity.ts'
import { otherClient } from '../../support/docker.ts'
import { type GatewayProcess, type ProcessFleet, startProcessFleet, workersOf } from '../../support/fleet-processes.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { failureOf } from '../../support/session-steps.ts'
import { busybox } from '../../support/shell.ts'
import { serveSite, type Site } from '../../support/site.ts'
import { waitUntil } from '../../support/wait.ts'

const title = [{ command: 'get_title' as const }]
/** Longer than a test: on a loaded machine, a minute is over before the kill, and a script that timed out is no error. */
const hang = [
  {
    command: 'evaluate' as const,
    data: { expression: 'fetch("/hang").then((got) => got.text())', timeout_ms: limits.command.maxMs },
  },
]
const buy = [{ type: 'execute' as const, script: 'fetch("/buy", { method: "POST" }).then((got) => got.text())' }]

/** Returns the error of a request; one that succeeds is shown. */
const failing = (request: Promise<unknown>): Promise<BaxError> =>
  failureOf(
    request.then((answer) => Promise.reject(new Error(`it succeeded: ${JSON.stringify(answer).slice(0, 2000)}`))),
  )

describe.skipIf(noRedis)(titled('requests of a fleet whose processes are killed', noRedis), () => {
  let fleet: ProcessFleet
  let site: Site
  /** Responses that are held back, by path; every test has paths of its own. */
  const held = new Map<string, ServerResponse[]>()
  const hold = (path: string) => (_: IncomingMessage, response: ServerResponse) =>
    void held.set(path, [...(held.get(path) ?? []), response])
  const count = (path: string) => held.get(path)?.length ?? 0
  const isHeld = (path: string, times: number) => waitUntil(() => count(path) >= times)

  beforeAll(async () => {
    const page = '<!doctype html><title>Shop</title><h1>Shop</h1><p>Some words to read in this shop.'
    const slow = ['/slow', '/buy', '/hang']
    ;[fleet, site] = await Promise.all([
      startProcessFleet(),
      serveSite({ '/': page, ...Object.fromEntries(slow.map((path) => [path, hold(path)])) }),
    ])
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await site?.close()
  })

  /** Starts one request of each kind, and resolves once all of them are in flight on a worker. */
  const begin = async ({ client, transport }: GatewayProcess) => {
    const before = ['/slow', '/buy', '/hang'].map(count)
    const { session_id } = (await client.createSession({ start_url: `${site.url}/` })) as { session_id: string }
    const scrape = client.scrape({ url: `${site.url}/slow`, timeout: limits.scrape.maxTimeoutMs })
    const withActions = failing(
      client.scrape({ url: `${site.url}/`, actions: buy, timeout: limits.scrape.maxTimeoutMs }),
    )
    const batch = failing(client.runCommands({ session_id, commands: hang }))
    let begun = 0
    const halfOfIt = async function* () {
      for (; begun < 64; begun++) yield Buffer.alloc(64 * 1024, begun)
      await new Promise<never>(() => {})
    }
    const file = { session_id, name: 'half.bin' }
    const uploading = failing(upload(transport, 'PUT /sessions/{session_id}/files/{name}', file, halfOfIt()))
    // Reported by the tests.
    for (const request of [scrape, withActions, batch, uploading]) request.catch(() => {})
    await Promise.all(['/slow', '/buy', '/hang'].map((path, at) => isHeld(path, before[at]! + 1)))
    await waitUntil(() => begun === 64)
    return { session_id, scrape, withActions, batch, uploading }
  }

  test('a worker: errors have codes, and only the scrape without actions is repeated', async () => {
    const gateway = await fleet.addGateway()
    const worker = await fleet.addWorker({ flags: ['--shells', '1'] })
    const shell = busybox.absent === null ? await gateway.client.createShell({ image: busybox.image }) : undefined
    const { session_id, scrape, withActions, batch, uploading } = await begin(gateway)
    const other = await fleet.addWorker()
    await worker.kill()
    if (shell) {
      const docker = await otherClient()
      const filters = JSON.stringify({ label: [`${labels.session}=${shell.session_id}`] })
      await waitUntil(async () => (await docker.listContainers({ filters })).length === 0)
    }
    // Another worker scrapes the page.
    await isHeld('/slow', 2)
    for (const failure of await Promise.all([withActions, batch, uploading]))
      expect(failure).toMatchObject({ code: 'worker_lost', status: 503 })
    held.get('/slow')![1]!.setHeader('content-type', 'text/html').end('<h1>Slow</h1><p>The words of a slow page.')
    expect((await scrape).data!.markdown).toContain('The words of a slow page.')
    expect({ buys: count('/buy'), scrapes: count('/slow') }).toEqual({ buys: 1, scrapes: 2 })
    const run = () => failureOf(gateway.client.runCommands({ session_id, commands: title }))
    let failure: BaxError
    // The lease ends 15 s after the last heartbeat.
    await waitUntil(async () => (failure = await run()).status === 410)
    expect(failure!).toMatchObject({ code: 'session_closed', details: { reason: 'worker_lost' } })
    expect(await failureOf(gateway.client.listSessionFiles({ session_id }))).toMatchObject({ code: 'session_closed' })
    expect((await workersOf(gateway)).map(({ worker_id }) => worker_id)).toEqual([other.id])
    // Slots of the lost worker are not counted any more, and those of its neighbor are free.
    for (const _ of [1, 2]) expect(await gateway.client.createSession({})).toMatchObject({ status: 'ready' })
    await gateway.client.closeSessions({})
    await Promise.all([gateway.stop(), other.stop()])
    await fleet.expectQueuesEmpty()
  })

  test('a gateway: its requests end on their workers, and another gateway continues', async () => {
    const [doomed, gateway, worker] = await Promise.all([fleet.addGateway(), fleet.addGateway(), fleet.addWorker()])
    const before = { buys: count('/buy'), scrapes: count('/slow'), hangs: count('/hang') }
    const { session_id, scrape, withActions, batch, uploading } = await begin(doomed)
    await doomed.kill()
    for (const failure of await Promise.all([failureOf(scrape), withActions, batch, uploading]))
      expect(failure).toMatchObject({ code: 'engine_unreachable' })
    // The worker gives up what nobody waits for.
    const last = () => ['/slow', '/buy'].map((path) => held.get(path)!.at(-1)!)
    await waitUntil(() => last().every(({ destroyed }) => destroyed))
    const { client } = gateway
    const { results } = await client.runCommands({ session_id, commands: title })
    expect(results[0]!.data).toMatchObject({ result: { value: 'Shop' } })
    expect(await client.listSessionFiles({ session_id })).toMatchObject({ files: [] })
    expect({ buys: count('/buy'), scrapes: count('/slow'), hangs: count('/hang') }).toEqual({
      buys: before.buys + 1,
      scrapes: before.scrapes + 1,
      hangs: before.hangs + 1,
    })
    await client.closeSession({ session_id })
    expect(await worker.stop()).toBe(0)
    await fleet.expectQueuesEmpty()
  })
})
