/** Idle, slow and non-reading connections: the server limits them and keeps responding. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { connectHalfOpen, upgradeRequest } from '../support/half-open.ts'
import { type HostProgram, makeHostProgram } from '../support/host-process.ts'

/** Open files that this process may have; the server is a separate process with the same limit. */
const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
const descriptors = Number(userLimits?.open_files.soft) || 1_000_000
const connectionCount = Math.min(10_000, descriptors - 1000)

let host: HostProgram
let port: number
beforeAll(async () => {
  host = await makeHostProgram(source)
  const { message } = await host.start<{ port: number }>()
  port = message.port
})
afterAll(() => host.close())

const source = `
import { createEngine } from './src/engine/index.ts'
import { createApp } from './src/server/app.ts'
import { loopbackHosts } from './src/server/access/gate.ts'
import { listen } from './src/server/process/listen.ts'
import { limits } from './src/core/limits/limits.ts'
const engine = createEngine({ home: 'server', stateDir, cacheDir: stateDir, display: false, writeAnywhere: false, log: () => {} })
const gate = { hosts: loopbackHosts, origins: new Set(), keys: null }
const app = createApp({ engine, gate, sockets: 'here' })
const bounds = { ...limits.connection, headersMs: 1000, checkMs: 100, idleMs: 500 }
const patient = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
const short = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false }, bounds)
process.send({ port: Number(new URL(patient.address).port), short: Number(new URL(short.address).port) })
`

const open = async (to = port): Promise<Socket> => {
  const socket = connect(to, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
const healthy = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status

/** Returns everything the server sends until it disconnects. */
async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

test(`${connectionCount} idle connections do not block other clients`, async () => {
  const sockets: Socket[] = []
  while (sockets.length < connectionCount) {
    sockets.push(
      ...(await Promise.all(Array.from({ length: Math.min(500, connectionCount - sockets.length) }, () => open()))),
    )
  }
  expect(await healthy()).toBe(200)
  const half = sockets.slice(0, connectionCount / 2)
  for (const socket of half) socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n')
  expect(await healthy()).toBe(200)
  const listed = await fetch(`http://127.0.0.1:${port}/sessions`)
  expect(await listed.json()).toEqual({ sessions: [], total: 0 })
  for (const socket of sockets) socket.destroy()
})

describe('a client that is too slow', () => {
  let short: number
  beforeAll(async () => {
    short = (await host.start<{ short: number }>()).message.short
  })

  test.each([
    ['with the end of its headers', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: '],
    ['with everything', ''],
  ])('%s gets an error response and is disconnected', async (_, begin) => {
    const socket = await open(short)
    socket.write(begin)
    // Sending a byte now and then does not extend the timeout.
    const drip = setInterval(() => begin && socket.write('a'), 50)
    const text = await readToEnd(socket)
    clearInterval(drip)
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
      success: false,
      code: 'timeout',
      request_id: expect.any(String),
    })
  })

  test('finds the connection closed when it sends its next request', async () => {
    const socket = await open(short)
    socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('an invalid request', () => {
  const ask = async (text: string) => {
    const socket = await open()
    socket.write(text)
    const received = await readToEnd(socket)
    return {
      status: Number(received.split(' ')[1]),
      body: JSON.parse(received.slice(received.indexOf('{'))) as unknown,
    }
  }

  test('gets the standard error response', async () => {
    const answer = await ask('HELO mail.test\r\n\r\n')
    expect(answer).toMatchObject({
      status: 400,
      body: { success: false, code: 'invalid_request', request_id: expect.stringMatching(/^req_/) },
    })
  })

  test('with headers above the size limit is rejected without being read', async () => {
    const long = 'x'.repeat(limits.connection.headerBytes)
    const expected = { status: 413, body: { code: 'payload_too_large' } }
    expect(await ask(`GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-long: ${long}\r\n\r\n`)).toMatchObject(expected)
    expect(await ask(`GET /healthz?${long} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)).toMatchObject(expected)
  })
})

describe('a client that keeps its side open', () => {
  /** Resolves when the server has closed its side for good: further bytes are then answered with a reset. */
  async function closedByServer(socket: Socket): Promise<void> {
    const probe = setInterval(() => socket.write('a'), 20)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(probe)
  }

  test.each([
    ['a refused upgrade', upgradeRequest('/nothing/here')],
    ['an upgrade to a session that is unknown', upgradeRequest('/sessions/ses_000000000000000000000000/cdp')],
    ['an upgrade to another protocol', upgradeRequest('/relay/connect').replace('websocket\r\n', 'h2c\r\n')],
    ['a malformed request', 'HELO mail.test\r\n\r\n'],
  ])('is closed by the server after %s', async (_, text) => {
    await closedByServer(await connectHalfOpen(port, text))
  })
})
