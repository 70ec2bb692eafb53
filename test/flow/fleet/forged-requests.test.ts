/**
 * What a proxy with a certificate can do between a gateway and its worker: it may change and repeat requests, and answer
 * itself. Workers without such a proxy are in `channel.test.ts`.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request as send } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { upload } from '../../../src/client/client.ts'
import type { BaxError } from '../../../src/core/errors/errors.ts'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { readSecretFile } from '../../../src/server/access/secret-file.ts'
import { forwardedHeader, ForwardedRequests } from '../../../src/server/access/signed-caller.ts'
import type { TlsIdentity } from '../../../src/server/access/tls-files.ts'
import { createCa, noOpenssl } from '../../support/certificates.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis } from '../../support/redis.ts'
import { request } from '../../support/server.ts'
import { failureOf } from '../../support/session-steps.ts'

/** A program at the address of a worker. */
interface Middle {
  readonly url: string
  /** Replaces text in bodies of requests. */
  replace: readonly [string, string] | undefined
  /** Replaces text in bodies of answers. */
  replaceInAnswer: readonly [string, string] | undefined
  /** Answers itself, with this status. */
  status: number | undefined
  close(): Promise<void>
}

const replacing = (texts: () => readonly [string, string] | undefined) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const [from, to] = texts() ?? ['', '']
      done(null, from === '' ? chunk : Buffer.from(chunk.toString('latin1').replaceAll(from, to), 'latin1'))
    },
  })

async function startMiddle(workerPort: number, certificate: TlsIdentity): Promise<Middle> {
  const server = createServer(certificate, (incoming, outgoing) => {
    if (middle.status !== undefined) {
      incoming.resume()
      outgoing.writeHead(middle.status, { 'content-type': 'application/json', connection: 'close' })
      return void outgoing.end(JSON.stringify({ success: true, sessions: [{ session_id: 'ses_false' }], total: 1 }))
    }
    const { method = 'GET', url = '/', headers } = incoming
    const { 'content-length': _, ...others } = headers
    const onward = send({ host: '127.0.0.1', port: workerPort, method, path: url, headers: others, setHost: false })
    onward.on('response', (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(replacing(() => middle.replaceInAnswer)).pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    const change = replacing(() => middle.replace)
    incoming.pipe(change).pipe(onward, { end: false })
    change.once('end', () => {
      onward.addTrailers(incoming.trailers as Record<string, string>)
      onward.end()
    })
  })
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const middle: Middle = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replace: undefined,
    replaceInAnswer: undefined,
    status: undefined,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return middle
}

const absent = noOpenssl ?? noRedis

describe.skipIf(absent)(titled('a proxy between gateway and worker', absent), () => {
  let folder: string
  let fleet: TestFleet
  let gateway: TestFleet['gateway']
  let middle: Middle
  let session_id: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-forged-'))
    const ca = createCa(folder)
    const { cert, key } = ca.issue('proxy', 'IP:127.0.0.1')
    const port = await freePort()
    middle = await startMiddle(port, { cert, key })
    fleet = await startFleet([{ proxied: { port, url: middle.url } }])
    gateway = await fleet.addGateway(undefined, ca.file)
    session_id = (await gateway.client.createSession({})).session_id!
  })
  afterEach(async () => {
    await fleet.close()
    await middle.close()
    await rm(folder, { recursive: true })
  })
  const setTitle = (to: string) => {
    const commands = [{ command: 'evaluate' as const, data: { expression: `document.title = '${to}'` } }]
    return gateway.client.runCommands({ session_id, commands })
  }
  const title = async () => {
    const { results } = await gateway.client.runCommands({ session_id, commands: [{ command: 'get_title' }] })
    return (results[0]!.data as { result: { value: string } }).result.value
  }

  test('a changed body runs nothing, and the gateway is at fault, not its caller', async () => {
    await setTitle('first')
    middle.replace = ['second', 'hacked']
    expect(await failureOf(setTitle('second'))).toMatchObject({
      code: 'fleet_unavailable',
      status: 503,
      message: expect.stringContaining('the body is not the one that the gateway has signed'),
    })
    middle.replace = undefined
    expect(await title()).toBe('first')
  })

  test('uploads are streamed, and a changed one stores nothing', async () => {
    const parts = async function* () {
      for (let part = 0; part < 40; part++) yield Buffer.alloc(64 * 1024, `part ${part % 10} `)
    }
    const store = (name: string) =>
      upload(gateway.transport, 'PUT /sessions/{session_id}/files/{name}', { session_id, name }, parts())
    expect(await store('whole.txt')).toMatchObject({ size: 40 * 64 * 1024 })
    middle.replace = ['part 7', 'part 8']
    expect(await failureOf(store('changed.txt'))).toMatchObject({ code: 'fleet_unavailable', status: 503 })
    middle.replace = undefined
    const { files } = await gateway.client.listSessionFiles({ session_id })
    expect(files.map(({ name }) => name)).toEqual(['whole.txt'])
  })

  test('changed content of an answer is an error, whatever its size', async () => {
    const { client } = gateway
    const evaluate = async (expression: string) => {
      const { results } = await client.runCommands({
        session_id,
        commands: [{ command: 'evaluate', data: { expression } }],
      })
      return (results[0]!.data as { result: { value: string } }).result.value
    }
    const small = `'price: 5'`
    const large = `'x'.repeat(${2 * limits.gateway.bufferedBytes}) + 'price: 5'`
    expect(await evaluate(large)).toMatch(/xprice: 5$/)
    middle.replaceInAnswer = ['price: 5', 'price: 9']
    const changed = 'the content of the answer is not the one that the worker has signed'
    expect(await failureOf(evaluate(small))).toMatchObject({ code: 'fleet_unavailable', status: 503, message: changed })
    // Its beginning has reached the client before the end is known: the connection is cut.
    await expect(evaluate(large)).rejects.toThrow()
    middle.replaceInAnswer = ['session_not_found', 'session_was_found']
    const unknown = client.getSession({ session_id: 'ses_never' })
    expect(await failureOf(unknown)).toMatchObject({ code: 'fleet_unavailable', message: changed })
    middle.replaceInAnswer = ['sessions', 'SESSIONS']
    expect(await failureOf(client.listSessions({}))).toMatchObject({ code: 'fleet_unavailable', message: changed })
    middle.replaceInAnswer = undefined
    expect(await evaluate(small)).toBe('price: 5')
  })

  test('a signature runs its own body only, and only once', async () => {
    const [{ url, id }] = fleet.workers as [TestFleet['workers'][number]]
    const signer = new ForwardedRequests(readSecretFile(fleet.secretFile, () => {}))
    const bodyOf = (to: string) => ({
      session_id,
      commands: [{ command: 'evaluate', data: { expression: `document.title = '${to}'` } }],
    })
    const headersFor = (body: object) => {
      const headers = { accept: '*/*', 'content-type': 'application/json', host: new URL(url).host }
      const line = { method: 'POST', target: '/commands', worker: id, headers: new Headers(headers) }
      const bytes = Buffer.from(JSON.stringify(body))
      const { header } = signer.sign({ ...line, body: bytes }, { caller: keylessCaller, requestId: 'req_1' })
      return { accept: '*/*', [forwardedHeader]: header }
    }
    const post = (body: object, headers: Record<string, string>) => request(url, 'POST', '/commands', body, headers)
    const headers = headersFor(bodyOf('signed'))
    expect(await post(bodyOf('signed'), headers)).toMatchObject({ status: 200 })
    expect(await title()).toBe('signed')
    await setTitle('later')
    for (const [body, by] of [
      [bodyOf('signed'), headers],
      [bodyOf('other'), headers],
      [bodyOf('other'), headersFor(bodyOf('signed'))],
    ] as const)
      expect(await post(body, by)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    expect(await title()).toBe('later')
  })

  test.each([200, 404, 502])(
    'an answer of another program (%s) is an error, and the worker cannot be reached',
    async (status) => {
      const { client, messages, url } = gateway
      middle.status = status
      const [{ id }] = fleet.workers as [TestFleet['workers'][number]]
      const message = `the answer of the worker ${id} (status ${status}) is not signed with the secret of the fleet`
      const failures: BaxError[] = [
        await failureOf(client.getSession({ session_id })),
        await failureOf(client.listSessions({})),
        await failureOf(client.createSession({})),
        await failureOf(client.scrape({ url: 'http://127.0.0.1:9/' })),
      ]
      for (const failure of failures) expect(failure).toMatchObject({ code: 'fleet_unavailable', status: 503, message })
      expect((await client.getFleet({})).workers).toMatchObject([
        { worker_id: id, unreachable: `${message}: check which program listens at ${middle.url}` },
      ])
      const socket = new WebSocket(`${url.replace('http', 'ws')}/sessions/${session_id}/live?token=none`)
      const [error] = await once(socket, 'error')
      expect(String(error)).toContain('503')
      expect(messages().filter((line) => line === message)).toHaveLength(1)
      middle.status = undefined
      expect(await client.getSession({ session_id })).toMatchObject({ session_id })
    },
  )
})
