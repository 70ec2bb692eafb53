import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { WebSocket } from 'ws'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../support/client.ts'
import { overHttp } from '../../../src/client/transport.ts'
import { protocol, subprotocol } from '../../../src/engine/relay/tunnel/messages.ts'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { operations } from '../../../src/operations/index.ts'
import { readSecretFile } from '../../../src/server/access/secret-file.ts'
import { ForwardedRequests, forwardedHeader } from '../../../src/server/access/signed-caller.ts'
import { startFleet, type TestFleet, type WorkerSetup } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis } from '../../support/redis.ts'
import { request } from '../../support/server.ts'
import { failureOf } from '../../support/session-steps.ts'
import { serveSite } from '../../support/site.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { waitUntil } from '../../support/wait.ts'
import { requestWorker } from '../../support/worker-request.ts'

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))
const title = [{ command: 'get_title' as const }]
const hang = [{ command: 'evaluate' as const, data: { expression: 'new Promise(() => {})', timeout_ms: 60_000 } }]

/** Uploads a text that is longer than the buffers of connections; returns `parsed`, or the error. */
async function parse({ url }: Pick<TestFleet['gateway'], 'url'>): Promise<unknown> {
  const text = `First line\n${'another line of the document\n'.repeat(50_000)}`
  const body = new FormData()
  body.set('file', new File([text], 'lines.txt', { type: 'text/plain' }))
  const response = await fetch(`${url}/v2/parse`, { method: 'POST', body })
  const answer = (await response.json()) as { data?: { markdown: string } }
  return answer.data?.markdown.includes('First line') ? 'parsed' : answer
}

describe.skipIf(noRedis)(titled('a fleet with faults', noRedis), () => {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })

  const start = async (setups?: WorkerSetup[]): Promise<TestFleet> => {
    const fleet = await startFleet(setups)
    closers.push(fleet.close)
    return fleet
  }

  /** Returns a worker whose connections the test can cut. */
  const proxiedWorker = async (): Promise<{ proxy: TcpProxy; setup: WorkerSetup }> => {
    const port = await freePort()
    const proxy = await startTcpProxy(port)
    closers.push(proxy.close)
    return { proxy, setup: { proxied: { port, url: proxy.url } } }
  }

  test('requests in flight to a lost worker fail with 503, later ones with 410; it ends what it held', async () => {
    const { proxy, setup } = await proxiedWorker()
    const fleet = await start([setup])
    const { client } = fleet.gateway
    const { session_id } = await client.createSession({ requested_name: 'shop' })
    const events = await fetch(`${fleet.gateway.url}/stream/sse?session_id=${session_id}&replay=all`)
    const reading = events.text()
    const waiting = failureOf(client.runCommands({ session_id: session_id!, commands: hang }))
    await waitUntil(async () =>
      (await client.getSessionLog({ session_id: session_id! })).events.some(({ type }) => type === 'command.started'),
    )
    proxy.block()
    expect(await waiting).toMatchObject({ code: 'worker_lost', status: 503 })
    // Streams that have begun are cut, and do not look complete.
    await expect(reading).rejects.toThrow()
    expect(await failureOf(client.getSession({ session_id: session_id! }))).toMatchObject({ code: 'worker_lost' })
    const [worker] = fleet.workers
    await fleet.expireLease(worker!.id)
    for (const id of [session_id!, 'shop']) {
      expect(await failureOf(client.runCommands({ session_id: id, commands: title }))).toMatchObject({
        code: 'session_closed',
        status: 410,
        details: { reason: 'worker_lost' },
      })
    }
    proxy.restore()
    await waitUntil(async () => (await worker!.engine.status()).sessions === 0)
    await waitUntil(async () => (await client.getFleet({})).workers.some(({ worker_id: id }) => id !== worker!.id))
    expect(await client.createSession({ requested_name: 'shop' })).toMatchObject({ status: 'ready' })
  })

  test('work that a worker could not be given runs on another one', async () => {
    const { proxy, setup } = await proxiedWorker()
    const fleet = await start([setup, {}])
    const site = await serveSite({ '/': '<h1>Home</h1><p>Some text.' })
    closers.push(site.close)
    proxy.block()
    // A gateway that has met the lost worker prefers the other one for a while.
    const [first, second] = [await fleet.addGateway(), await fleet.addGateway()]
    const scrape = ({ client }: Pick<TestFleet['gateway'], 'client'>, more: object) =>
      client.scrape({ url: `${site.url}/`, ...more }).then(
        () => 'done',
        ({ code }) => code as string,
      )
    expect(await Promise.all([scrape(first, {}), scrape(first, {})])).toEqual(['done', 'done'])
    expect(await Promise.all([parse(second), parse(second)])).toEqual(['parsed', 'parsed'])
    const withActions = () => scrape(fleet.gateway, { actions: [{ type: 'wait', milliseconds: 1 }] })
    expect([await withActions(), await withActions()]).toEqual(['done', 'done'])
  })

  test('unbound work whose worker is lost is repeated on another one, unless it has actions', async () => {
    const { proxy, setup } = await proxiedWorker()
    const fleet = await start([setup])
    // The first request for each path gets no answer.
    const page = (path: string) => (_: IncomingMessage, response: ServerResponse) =>
      void (requestsOf(path) > 1 && response.end('<h1>Home</h1><p>Some text.'))
    const site = await serveSite({ '/plain': page('/plain'), '/actions': page('/actions') })
    closers.push(site.close)
    const requestsOf = (path: string) => site.requests.filter((requested) => requested === path).length
    const scrape = async (path: string, more: object) => {
      const outcome = fleet.gateway.client.scrape({ url: `${site.url}${path}`, ...more }).then(
        () => 'done',
        ({ code }) => code as string,
      )
      await waitUntil(() => requestsOf(path) > 0)
      return { outcome }
    }
    const plain = await scrape('/plain', {})
    const acting = await scrape('/actions', { actions: [{ type: 'wait', milliseconds: 1 }] })
    await fleet.addWorker()
    proxy.block()
    expect(await plain.outcome).toBe('done')
    expect(await acting.outcome).toBe('worker_lost')
    expect(requestsOf('/actions')).toBe(1)
  })

  test('new sessions skip a worker that cannot be reached', async () => {
    const { proxy, setup } = await proxiedWorker()
    const fleet = await start([setup, {}])
    await proxy.close()
    closers.splice(closers.indexOf(proxy.close), 1)
    for (const name of ['one', 'two'])
      expect(await fleet.gateway.client.createSession({ requested_name: name })).toMatchObject({ status: 'ready' })
    const [, healthy] = fleet.workers
    expect((await healthy!.engine.status()).sessions).toBe(2)
    const { sessions, warning } = (await fleet.gateway.client.listSessions({})) as {
      sessions: unknown[]
      warning?: string
    }
    expect(sessions).toHaveLength(2)
    expect(warning).toMatch(/^without 1 of 2 workers, which did not respond: wrk_/)
  })

  test('a worker with another secret is treated like a lost one, and reported once', async () => {
    const fleet = await start([{}])
    const secretFile = await fleet.admitOther()
    const stranger = await fleet.addWorker({ secretFile })
    const site = await serveSite({ '/': '<h1>Home</h1><p>Some text.' })
    closers.push(site.close)
    const { client, url, messages } = fleet.gateway
    for (let count = 0; count < 4; count += 1)
      expect(await client.scrape({ url: `${site.url}/` })).toMatchObject({ success: true })
    for (const name of ['one', 'two'])
      expect(await client.createSession({ requested_name: name })).toMatchObject({ status: 'ready' })
    const [trusted] = fleet.workers
    expect((await trusted!.engine.status()).sessions).toBe(2)
    const listed = (await client.listSessions({})) as { sessions: unknown[]; warning?: string }
    expect(listed.sessions).toHaveLength(2)
    expect(listed.warning).toBe(`without 1 of 2 workers, which did not respond: ${stranger.id}`)
    const { token } = await client.createRelayToken({})
    const headers = { authorization: `Bearer ${token}` }
    for (let count = 0; count < 2; count += 1) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/relay/connect`, subprotocol, { headers })
      await once(socket, 'open')
      socket.terminate()
    }
    expect(messages().filter((message) => message.includes(stranger.id))).toEqual([
      `the worker ${stranger.id} refuses this gateway: the signature of the gateway is not valid`,
    ])
  })

  test('a draining worker keeps its sessions, gets nothing new, and ends with its last session', async () => {
    const fleet = await start([{ drainMs: 60_000 }])
    const { client } = fleet.gateway
    const { session_id } = await client.createSession({})
    const [old] = fleet.workers
    const stopped = old!.stop()
    await waitUntil(async () => (await failureOf(client.scrape({ url: 'http://127.0.0.1:9/' }))).code === 'no_capacity')
    const young = await fleet.addWorker()
    const { results } = await client.runCommands({ session_id: session_id!, commands: title })
    expect(results).toHaveLength(1)
    await client.createSession({})
    expect((await young.engine.status()).sessions).toBe(1)
    // As for a gateway that has not read the new state of the worker yet.
    const { client: redis } = fleet.redis
    await redis.hset(`bax:dir:worker:${old!.id}`, 'state', 'ready')
    const [load] = await redis.keys('bax:dir:load:*:render')
    await waitUntil(async () => (await redis.zscore(load!, old!.id)) !== null)
    expect(await Promise.all([parse(fleet.gateway), parse(fleet.gateway)])).toEqual(['parsed', 'parsed'])
    await client.closeSession({ session_id: session_id! })
    await stopped
  })

  test('keys limit what callers see over all workers, and their websockets end with them', async () => {
    const fleet = await start([{}, {}])
    const { engine, url } = fleet.gateway
    const holder = async (name: string) => {
      const { key, key_id } = await engine.keys.create({ name, scopes: ['browser'] })
      return { key, key_id, client: createClient(overHttp(url, { 'x-api-key': key }), addressed) }
    }
    const [ann, bob] = [await holder('ann'), await holder('bob')]
    const mine = await ann.client.createSession({ requested_name: 'shop' })
    const other = await bob.client.createSession({ requested_name: 'shop' })
    expect((await ann.client.listSessions({})).sessions.map(({ session_id }) => session_id)).toEqual([mine.session_id])
    expect(await failureOf(ann.client.getSession({ session_id: other.session_id! }))).toMatchObject({
      code: 'session_not_found',
    })
    expect((await ann.client.getSession({ session_id: 'shop' })).session_id).toBe(mine.session_id)
    expect(await request(url, 'GET', '/sessions')).toMatchObject({ status: 401 })
    // The frame token replaces a key.
    const socket = new WebSocket(
      `${url.replace('http', 'ws')}/sessions/${mine.session_id}/cdp?token=${mine.frame_token}`,
    )
    const keyed = new WebSocket(`${url.replace('http', 'ws')}/sessions/${mine.session_id}/cdp`, {
      headers: { 'x-api-key': ann.key },
    })
    await Promise.all([once(socket, 'open'), once(keyed, 'open')])
    await engine.keys.revoke(ann.key_id)
    await Promise.all([once(socket, 'close'), once(keyed, 'close')])
  })

  test('a relay resumes on the worker that holds it', async () => {
    const fleet = await start([{}, {}])
    const { client, url } = fleet.gateway
    const { token } = await client.createRelayToken({})
    const connect = async (session_id?: string, resume?: string) => {
      const query = session_id === undefined ? '' : `?session_id=${session_id}`
      const headers = { authorization: `Bearer ${token}` }
      const socket = new WebSocket(`${url.replace('http', 'ws')}/relay/connect${query}`, subprotocol, { headers })
      await once(socket, 'open')
      const browser = { product: 'None/1', protocol_version: '1.3', user_agent: 'none', headless: true }
      socket.send(
        JSON.stringify({
          type: 'hello',
          proto: protocol,
          version: '0',
          platform: 'test',
          name: 'laptop',
          policy: 'full',
          redact: true,
          browser,
          ...(resume && { resume }),
        }),
      )
      const [message] = await once(socket, 'message')
      return { socket, welcome: JSON.parse(String(message)) as { session_id: string; resume: string } }
    }
    const others = [await connect(), await connect(), await connect()]
    const { socket, welcome } = others[0]!
    expect(await client.getRelay({ id: welcome.session_id })).toMatchObject({ status: 'connected' })
    expect((await client.listRelays({})).sessions).toHaveLength(3)
    socket.terminate()
    await waitUntil(async () => (await client.getRelay({ id: welcome.session_id })).status === 'reconnecting')
    const again = await connect(welcome.session_id, welcome.resume)
    expect(again.welcome.session_id).toBe(welcome.session_id)
    expect(await client.getRelay({ id: welcome.session_id })).toMatchObject({ status: 'connected', reconnects: 1 })
    // A session that no worker has any more does not keep a connector from connecting.
    expect((await connect('rly_gone', 'secret')).welcome.session_id).toMatch(/^rly_/)
  })

  test('a worker refuses signatures for another URL, and old ones; the gateway reports wrong secrets as its own', async () => {
    const fleet = await start([{}])
    const [{ url, id }] = fleet.workers as [TestFleet['workers'][number]]
    const secret = readSecretFile(fleet.secretFile, () => {})
    const { host } = new URL(url)
    const signed = (target: string, { now = Date.now(), key = secret, worker = id } = {}) => {
      const line = { method: 'GET', target, worker, headers: new Headers({ host, accept: '*/*' }) }
      const { header } = new ForwardedRequests(key, () => now).sign(line, { caller: keylessCaller, requestId: 'req_1' })
      return { [forwardedHeader]: header, accept: '*/*' }
    }
    const send = (headers: Record<string, string>) =>
      requestWorker({ url, secretFile: fleet.secretFile }, 'GET', '/sessions', undefined, headers)
    const once = signed('/sessions')
    expect(await send(once)).toMatchObject({ status: 200 })
    for (const headers of [
      once,
      { ...signed('/sessions'), accept: 'application/x-ndjson' },
      signed('/engine'),
      signed('/sessions', { worker: 'wrk_before' }),
      signed('/sessions', { now: Date.now() - 95_000 }),
      signed('/sessions', { key: Buffer.alloc(48) }),
    ])
      expect(await send(headers)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    const { client } = await fleet.addGateway(await fleet.admitOther())
    for (const send of [() => client.listSessions({}), () => client.createSession({}), () => client.scrape({ url })]) {
      expect(await failureOf(send())).toMatchObject({
        code: 'fleet_unavailable',
        hint: 'use the same secret file for all gateways and workers',
      })
    }
  })
})
