/** Requests whose body is being sent while their server shuts down, or while their MCP session ends. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { isFleet } from '../support/homes.ts'
import { type ConnectionInParts, connectInParts, sendBeforeReading } from '../support/in-parts.ts'
import { servedWithinMs } from '../support/served.ts'
import { type RunningServer, request, serve } from '../support/server.ts'
import { waitUntil } from '../support/wait.ts'

const json = { 'content-type': 'application/json' }
const mcp = { ...json, accept: 'application/json, text/event-stream' }
const form = { 'content-type': 'multipart/form-data; boundary=x' }

let built: BuiltBax
/** Servers of one test each. Two shut down: with hardly any time for running work, and with the usual time. */
let hasty: RunningServer
let patient: RunningServer
let lasting: RunningServer
beforeAll(async () => {
  built = await buildBax()
  ;[hasty, patient, lasting] = await Promise.all([serve(built, ['--drain-secs', '0.2']), serve(built), serve(built)])
}, servedWithinMs)
afterAll(async () => {
  const servers = [hasty, patient, lasting]
  for (const server of servers) server?.child.kill('SIGTERM')
  await Promise.all(servers.map((server) => server?.ended))
  await built?.close()
})

const inFlight = async ({ url }: RunningServer) =>
  Number(/^bax_requests_in_flight (\d+)$/m.exec((await request(url, 'GET', '/metrics')).body)![1]) - 1

/** Begins requests without the end of their bodies; resolves once the server has them all. */
async function beginAll(
  server: RunningServer,
  requests: readonly (readonly [line: string, headers: Readonly<Record<string, string>>])[],
): Promise<ConnectionInParts[]> {
  const begun = []
  for (const [line, headers] of requests) {
    const connection = await connectInParts(server.url)
    await connection.begin(line, { 'content-length': 1000, ...headers }, '{')
    begun.push(connection)
  }
  await waitUntil(async () => (await inFlight(server)) === requests.length)
  return begun
}

test('a message to an MCP session that ends is not waited for', async () => {
  const server = lasting
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: client }
  const { headers } = await request(server.url, 'POST', '/mcp', initialize, mcp)
  const session = { 'mcp-session-id': headers.get('mcp-session-id')! }
  const [sending] = await beginAll(server, [['POST /mcp', { ...mcp, ...session }]])
  expect((await request(server.url, 'DELETE', '/mcp', undefined, session)).status).toBe(200)
  expect(await sending!.receive()).toMatchObject({ status: 404, body: { error: { message: 'Session not found' } } })
  sending!.socket.destroy()
})

describe('a server that shuts down', () => {
  test('responds to requests that it has not received completely when the time is up', async () => {
    const server = hasty
    const { session_id } = (await server.request('POST', '/sessions', {})).body
    const [uploading, ...others] = await beginAll(server, [
      [`PUT /sessions/${session_id}/files/half.bin`, {}],
      ['POST /v1/scrape', json],
      ['POST /v1/crawl', json],
      ['POST /commands', json],
      ['POST /v2/parse', form],
      ['POST /mcp', mcp],
    ])
    server.child.kill('SIGTERM')
    for (const connection of others)
      expect(await connection.receive()).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
    // The workers of a gateway keep their sessions.
    const ended = { status: 410, body: { code: 'session_closed', details: { reason: 'engine_closed' } } }
    expect(await uploading!.receive()).toMatchObject(isFleet ? { status: 503, body: { code: 'shutting_down' } } : ended)
    expect((await server.ended).code).toBe(0)
  })

  test('rejects a request before its body, and closes the connection after it', async () => {
    const server = patient
    const [last] = await beginAll(server, [['POST /v1/scrape', json]])
    server.child.kill('SIGTERM')
    await server.waitForLog(({ message }) => message === 'draining')
    const rejected = await connectInParts(server.url)
    await sendBeforeReading(rejected, 'POST /v1/scrape', { length: 9 * 1024 * 1024, ...json })
    const { headers, ...response } = await rejected.receive()
    expect(response).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
    expect(headers).toMatch(/^connection: close$/im)
    if (!rejected.socket.readableEnded) await once(rejected.socket, 'end')
    await last!.send(`"url": 7}${' '.repeat(1000 - 10)}`)
    expect(await last!.receive()).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    last!.socket.destroy()
    expect((await server.ended).code).toBe(0)
  })
})
