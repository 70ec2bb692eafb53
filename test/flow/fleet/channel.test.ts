/** Somebody on the way between a gateway and a worker without a certificate, who reads, changes and cuts what they send. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { follow, upload } from '../../../src/client/client.ts'
import { createCa, noOpenssl } from '../../support/certificates.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis } from '../../support/redis.ts'
import { failureOf } from '../../support/session-steps.ts'
import { channelOf } from '../../support/worker-request.ts'

/** A TCP proxy in front of a worker. */
interface Middle {
  readonly url: string
  /** Port that new connections go to. */
  target: number
  /** Bytes of workers, as text. */
  seen: string
  /** Changes one byte of what workers send on the connections that are open now, after that many bytes. */
  changeAfter(bytes: number): void
  /** Ends all connections without an error. */
  cut(): void
  close(): Promise<void>
}

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function startMiddle(target: number): Promise<Middle> {
  const open = new Set<{ near: Socket; far: Socket; unchanged?: number }>()
  const server = createServer((near) => {
    const far = connect(middle.target, '127.0.0.1')
    const pair: { near: Socket; far: Socket; unchanged?: number } = { near, far }
    open.add(pair)
    near.pipe(far)
    far.on('data', (chunk: Buffer) => {
      middle.seen += chunk.toString('latin1')
      if (pair.unchanged !== undefined && chunk.length > 0) {
        if (pair.unchanged < chunk.length) chunk[pair.unchanged]! ^= 1
        pair.unchanged -= Math.min(pair.unchanged, chunk.length)
      }
      near.write(chunk)
    })
    far.on('error', () => {}).on('close', () => near.destroy())
    near.on('error', () => {}).on('close', () => (open.delete(pair), far.destroy()))
  })
  const port = await listening(server)
  const middle: Middle = {
    url: `http://127.0.0.1:${port}`,
    target,
    seen: '',
    changeAfter: (bytes) => {
      for (const pair of open) pair.unchanged = bytes
    },
    cut: () => {
      for (const { near } of open) near.end()
    },
    close: async () => {
      for (const { near } of open) near.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return middle
}

const absent = noOpenssl ?? noRedis

describe.skipIf(absent)(titled('between a gateway and a worker', absent), () => {
  let fleet: TestFleet
  let middle: Middle
  let session_id: string
  let frame_token: string
  beforeEach(async () => {
    const port = await freePort()
    middle = await startMiddle(port)
    fleet = await startFleet([{ proxied: { port, url: middle.url } }])
    const created = await fleet.gateway.client.createSession({})
    session_id = created.session_id!
    frame_token = created.frame_token!
  })
  afterEach(async () => {
    await fleet.close()
    await middle.close()
  })
  const evaluate = async (expression: string) => {
    const commands = [{ command: 'evaluate' as const, data: { expression } }]
    const { results } = await fleet.gateway.client.runCommands({ session_id, commands })
    return (results[0]!.data as { result: { value: string } }).result.value
  }
  /** Reads events until one has the text. */
  const events = () => {
    const frames = follow(fleet.gateway.transport, 'GET /stream/sse', { session_id, replay: 'all' })
    const iterator = frames[Symbol.asyncIterator]()
    return {
      until: async (text: string): Promise<void> => {
        for (;;) {
          const { value, done } = await iterator.next()
          if (done) throw new Error('the stream has ended')
          if (JSON.stringify(value).includes(text)) return
        }
      },
    }
  }
  const storeFile = (bytes: number) => {
    const body = async function* () {
      yield Buffer.alloc(bytes, 'file')
    }
    return upload(
      fleet.gateway.transport,
      'PUT /sessions/{session_id}/files/{name}',
      { session_id, name: 'a.txt' },
      body(),
    )
  }
  const loadFile = async () => {
    const response = await fetch(`${fleet.gateway.url}/sessions/${session_id}/files/a.txt`)
    return (await response.arrayBuffer()).byteLength
  }

  test('nobody can read what they send', async () => {
    expect(await evaluate(`'a secret ' + 'price'`)).toBe('a secret price')
    expect(middle.seen.length).toBeGreaterThan(100)
    for (const text of ['secret price', 'HTTP/1.1', session_id]) expect(middle.seen).not.toContain(text)
  })

  test('a changed header is an error', async () => {
    middle.changeAfter(20)
    expect(await failureOf(fleet.gateway.client.getSession({ session_id }))).toMatchObject({ code: 'worker_lost' })
    expect(await fleet.gateway.client.getSession({ session_id })).toMatchObject({ session_id })
  })

  test('a changed byte of a download is an error, and so is a download that is cut', async () => {
    await storeFile(4_000_000)
    expect(await loadFile()).toBe(4_000_000)
    middle.changeAfter(1_000_000)
    await expect(loadFile()).rejects.toThrow()
    const response = await fetch(`${fleet.gateway.url}/sessions/${session_id}/files/a.txt`)
    const reader = response.body!.getReader()
    await reader.read()
    middle.cut()
    const rest = async () => {
      for (;;) if ((await reader.read()).done) return 'complete'
    }
    await expect(rest()).rejects.toThrow()
    expect(await loadFile()).toBe(4_000_000)
  })

  test('a changed event is an error, and so is a stream that is cut', async () => {
    const changed = events()
    await changed.until('session.')
    middle.changeAfter(0)
    // Its answer may be changed too.
    await evaluate('1').catch(() => {})
    await expect(changed.until('never')).rejects.toMatchObject({ code: expect.stringMatching(/./) })
    const cut = events()
    await cut.until('session.')
    middle.cut()
    await expect(cut.until('never')).rejects.toMatchObject({ code: expect.stringMatching(/./) })
  })

  test('a changed message of a websocket closes it', async () => {
    const url = `${fleet.gateway.url.replace('http', 'ws')}/sessions/${session_id}/cdp?token=${frame_token}`
    const socket = new WebSocket(url)
    const messages: string[] = []
    socket.on('message', (message) => messages.push(String(message)))
    await once(socket, 'open')
    middle.changeAfter(30)
    socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }))
    const [code] = await once(socket, 'close')
    expect(code).toBe(1006)
    expect(messages).toEqual([])
  })

  describe('another program', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'bax-test-channel-'))
    })
    afterEach(() => rm(folder, { recursive: true }))
    const respond: RequestListener = (_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ success: true, session_id, sessions: [], total: 0 }))
    }

    test.each(['HTTP', 'a certificate of a trusted CA'])('with %s is no worker', async (kind) => {
      const ca = createCa(folder)
      const { cert, key } = ca.issue('program', 'IP:127.0.0.1')
      const program = kind === 'HTTP' ? createHttp(respond) : createHttps({ cert, key }, respond)
      const { client } = await fleet.addGateway(undefined, ca.file)
      expect(await client.getSession({ session_id })).toMatchObject({ session_id })
      const worker = middle.target
      middle.target = await listening(program)
      middle.cut()
      const [{ id }] = fleet.workers as [TestFleet['workers'][number]]
      const message = `the program at the URL of the worker ${id} does not have the secret of the fleet`
      for (const send of [
        () => client.getSession({ session_id }),
        () => client.listSessions({}),
        () => client.createSession({}),
      ])
        expect(await failureOf(send())).toMatchObject({ code: 'fleet_unavailable', status: 503, message })
      expect((await client.getFleet({})).workers).toMatchObject([
        { worker_id: id, unreachable: `${message}: check which program listens at ${middle.url}` },
      ])
      middle.target = worker
      expect(await client.getSession({ session_id })).toMatchObject({ session_id })
      if (kind !== 'HTTP') {
        // Also where this machine trusts the CA of the program.
        const socket = connectTls({
          port: (program.address() as AddressInfo).port,
          ca: readFileSync(ca.file),
          ...channelOf(fleet.secretFile),
        })
        const [error] = await once(socket, 'error')
        expect(error).toMatchObject({ message: 'it has a certificate instead of the secret' })
      }
      program.closeAllConnections()
      await new Promise((resolve) => program.close(resolve))
    })
  })
})
