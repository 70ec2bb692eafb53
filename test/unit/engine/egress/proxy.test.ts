import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bypasses } from '../../../../src/engine/egress/proxy-settings.ts'
import { Counter } from '../../../../src/core/access/quota.ts'
import type { Origin } from '../../../../src/core/process/turns.ts'
import { Failures } from '../../../../src/engine/egress/failures.ts'
import { HostResolver } from '../../../../src/engine/egress/host-resolver.ts'
import { Policy } from '../../../../src/engine/egress/policy.ts'
import { openProxy, type Proxy } from '../../../../src/engine/egress/proxy.ts'

let proxy: Proxy
let echo: Server
const failures = new Failures()
const connections = new Counter<Origin>()
const open = new Set<Socket>()

beforeAll(async () => {
  const policy = new Policy({ privateAllowed: false, opened: ['127.0.0.2'] })
  const names = new HostResolver(policy, async () => [{ address: '127.0.0.2', family: 4 }])
  proxy = await openProxy({ policy, names, failures, connections })
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => {}))
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.2', resolve))
})
afterAll(async () => {
  await proxy.close()
  echo.close()
})

const port = () => (echo.address() as AddressInfo).port

async function speak(...parts: Buffer[]): Promise<Socket> {
  const { hostname, port: at } = new URL(proxy.url.replace('socks5', 'http'))
  const socket = connect(Number(at), hostname)
  await once(socket, 'connect')
  for (const part of parts) socket.write(part)
  return socket
}

/** Reads the given number of bytes, or until the other side ends. */
async function read(socket: Socket, bytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  let all = Buffer.alloc(0)
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    all = Buffer.concat([all, chunk as Buffer])
    if (all.length >= bytes) break
  }
  return all
}

const hello = Buffer.from([5, 1, 0])
const requestFor = (host: string, at: number) => {
  const name = Buffer.from(host)
  return Buffer.from([5, 1, 0, 3, name.length, ...name, at >> 8, at & 255])
}
const address = (parts: number[], at: number) => Buffer.from([5, 1, 0, 1, ...parts, at >> 8, at & 255])
const done = Buffer.from([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0])

describe('the proxy', () => {
  test('connects to a name or address, and pipes data in both directions', async () => {
    for (const to of [requestFor('a.test', port()), requestFor('127.0.0.2', port()), address([127, 0, 0, 2], port())]) {
      const socket = await speak(hello, to, Buffer.from('early '))
      socket.end('and late')
      expect(await read(socket)).toEqual(Buffer.concat([done, Buffer.from('early and late')]))
    }
  })

  test('reads a handshake that arrives byte by byte', async () => {
    const socket = await speak(...[...hello, ...requestFor('a.test', port())].map((byte) => Buffer.from([byte])))
    expect(await read(socket, done.length)).toEqual(done)
    socket.destroy()
  })

  test('refuses blocked targets, and records why', async () => {
    for (const to of [
      address([127, 0, 0, 3], port()),
      requestFor('127.0.0.3', port()),
      requestFor('metadata.google.internal', 80),
      requestFor('a.test', 22),
    ]) {
      const answer = await read(await speak(hello, to))
      expect([...answer.subarray(0, 4)]).toEqual([5, 0, 5, 2])
    }
    const explained = failures.explain('net::ERR_SOCKS_CONNECTION_FAILED', `http://127.0.0.3:${port()}/x`)
    expect(explained).toBe('net::ERR_BLOCKED_BY_CLIENT')
    expect(failures.explain('net::ERR_SOCKS_CONNECTION_FAILED', 'http://metadata.google.internal/')).toBe(explained)
    expect(failures.explain('net::ERR_ABORTED', `http://127.0.0.3:${port()}/x`)).toBe('net::ERR_ABORTED')
  })

  test('disconnects clients of other protocols', async () => {
    for (const words of [
      'GET http://127.0.0.2/ HTTP/1.1\r\n\r\n',
      'CONNECT 127.0.0.2:80 HTTP/1.1\r\n\r\n',
      '\u0004\u0001',
      '\u0005\u0001\u0002',
    ]) {
      expect(await read(await speak(Buffer.from(words)))).toEqual(Buffer.alloc(0))
    }
    // BIND and UDP ASSOCIATE are not supported.
    for (const command of [2, 3]) {
      const request = Buffer.from([5, command, 0, 1, 127, 0, 0, 2, 0, 80])
      expect(await read(await speak(hello, request))).toEqual(Buffer.from([5, 0]))
    }
  })

  test('resets one end when the other breaks', async () => {
    const socket = await speak(hello, requestFor('a.test', port()))
    await read(socket, done.length)
    const [target] = [...open]
    const left = new Promise((resolve) => target!.on('close', resolve))
    socket.resetAndDestroy()
    await left
    const other = await speak(hello, requestFor('a.test', port()))
    await read(other, done.length)
    const gone = once(other, 'error')
    ;[...open].at(-1)!.resetAndDestroy()
    expect(await gone).toMatchObject([{ code: 'ECONNRESET' }])
  })

  test('closes all connections when it is closed', async () => {
    const names = new HostResolver(new Policy({ privateAllowed: true, opened: [] }))
    const own = await openProxy({
      policy: new Policy({ privateAllowed: true, opened: [] }),
      names,
      failures,
      connections,
    })
    const { hostname, port: at } = new URL(own.url.replace('socks5', 'http'))
    const socket = connect(Number(at), hostname)
    await once(socket, 'connect')
    const closed = once(socket.resume(), 'close')
    await own.close()
    await closed
  })
})

test('matches bypass lists by Chromium’s rules', () => {
  const list = '.example.com, intra, *.test:8080; <local> 10.0.0.*'
  for (const [host, at] of [
    ['a.example.com', 80],
    ['intra', 80],
    ['x.test', 8080],
    ['printer', 1],
    ['10.0.0.7', 80],
  ] as const) {
    expect(bypasses(list, host, at), host).toBe(true)
  }
  for (const [host, at] of [
    ['example.com', 80],
    ['intra.net', 80],
    ['x.test', 80],
    ['10.0.1.7', 80],
    ['a-example.com', 80],
  ] as const) {
    expect(bypasses(list, host, at), host).toBe(false)
  }
})
