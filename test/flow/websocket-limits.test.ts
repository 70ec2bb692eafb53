/** Limits on websocket messages, and on open websockets per caller. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { allowancesOf } from '../../src/core/access/quota.ts'
import { keyScopes } from '../../src/core/access/caller.ts'
import type { Engine } from '../../src/core/engine.ts'
import { keyPrefix, type KeyRing } from '../../src/core/access/keys.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { closeCodes, type Link } from '../../src/core/net/link.ts'
import { createApp } from '../../src/server/app.ts'
import { type Listener, listen } from '../../src/server/process/listen.ts'
import { RateLimiter } from '../../src/core/access/rate-limiter.ts'
import { waitUntil } from '../support/wait.ts'

/** Lengths of received messages, and counts of opened and closed operations. */
let heard: number[] = []
let opened = 0
let ended = 0
const take = (link: Link): void =>
  link.handle({
    onText: (text) => void heard.push(text.length),
    onBytes: (bytes) => void heard.push(bytes.length),
    onClose: () => void (ended += 1),
  })
const open = async () => {
  opened += 1
  return take
}
const engine = {
  keys: { whenLost: () => {} },
  sessions: { openClient: open, openLiveView: open },
  relays: { openClient: open, admit: open },
} as unknown as Engine
const callerOf = (key: string) => ({ keyId: key, name: key, scopes: keyScopes, admin: false })
const keys = { required: () => true, check: () => {}, callerOf } as unknown as KeyRing
const gate = { hosts: null, origins: new Set<string>(), keys }

let listener: Listener
beforeAll(async () => {
  const rates = new RateLimiter(allowancesOf({ rate: 0 }))
  const app = createApp({ engine, gate, sockets: 'here', rates })
  listener = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false, rates })
})
afterAll(() => listener.close())

const sockets: WebSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await waitUntil(async () => opened === ended)
  heard = []
})

/** Sends an upgrade request; the status is 101 if it is accepted. */
async function come(
  path: string,
  headers: Record<string, string>,
): Promise<{ socket: WebSocket; status: number; wait: unknown }> {
  const socket = new WebSocket(`${listener.address.replace('http', 'ws')}${path}`, { headers, perMessageDeflate: true })
  sockets.push(socket)
  socket.on('error', () => {})
  return new Promise((resolve) => {
    socket.once('open', () => resolve({ socket, status: 101, wait: undefined }))
    socket.once('unexpected-response', (_request, { statusCode, headers: said }) =>
      resolve({ socket, status: statusCode!, wait: said['retry-after'] }),
    )
  })
}
const ann = { 'x-api-key': `${keyPrefix}ann` }
const codeOf = async (closed: Promise<unknown[]>) => (await closed)[0]

describe.each([
  ['/sessions/s/live', limits.messages.liveBytes],
  ['/sessions/s/cdp', limits.messages.cdpBytes],
  ['/relay/sessions/r/cdp', limits.messages.cdpBytes],
  ['/relay/connect', limits.messages.tunnelBytes],
])('%s', (path, most) => {
  test('accepts messages up to the limit, and closes with 1009 on a longer one', async () => {
    const { socket } = await come(path, ann)
    const closed = once(socket, 'close')
    socket.send('x'.repeat(most))
    await waitUntil(async () => heard.length === 1)
    socket.send('x'.repeat(most + 1))
    expect([await codeOf(closed), heard]).toEqual([1009, [most]])
  })

  test('closes on a message with too many values', async () => {
    const { socket } = await come(path, ann)
    const closed = once(socket, 'close')
    socket.send(`[${'1,'.repeat(limits.input.values)}1]`)
    expect([await codeOf(closed), heard]).toEqual([closeCodes.protocol, []])
  })
})

test('only the tunnel is compressed, and the limit applies to the decompressed size', async () => {
  for (const path of ['/sessions/s/live', '/sessions/s/cdp', '/relay/sessions/r/cdp'])
    expect((await come(path, ann)).socket.extensions, path).toBe('')
  const { socket } = await come('/relay/connect', ann)
  expect(socket.extensions).toContain('permessage-deflate')
  const closed = once(socket, 'close')
  socket.send('x'.repeat(limits.messages.tunnelBytes + 1))
  expect([await codeOf(closed), heard]).toEqual([1009, []])
})

describe('open websockets', () => {
  const path = '/sessions/s/live'
  const { ofKey, ofToken } = limits.openEnds

  test('a key has a limit, and can open one more after one has closed', async () => {
    const all = await Promise.all(Array.from({ length: ofKey + 5 }, () => come(path, ann)))
    const [inside, refused] = [all.filter(({ status }) => status === 101), all.filter(({ status }) => status !== 101)]
    expect([inside.length, refused.map(({ status, wait }) => [status, wait])]).toEqual([
      ofKey,
      Array.from({ length: 5 }, () => [429, '2']),
    ])
    expect((await come(path, { 'x-api-key': `${keyPrefix}ben` })).status).toBe(101)
    inside[0]!.socket.terminate()
    await waitUntil(async () => (await come(path, ann)).status === 101)
  })

  test('each token has its own limit', async () => {
    const all = await Promise.all(Array.from({ length: ofToken + 1 }, () => come(`${path}?token=ft_1`, {})))
    expect(all.filter(({ status }) => status === 429)).toHaveLength(1)
    expect((await come(path, { authorization: 'Bearer ft_1' })).status).toBe(429)
    expect((await come(`${path}?token=ft_2`, {})).status).toBe(101)
  })

  test('an invalid handshake or a disconnect leaves nothing behind', async () => {
    const before = opened
    for (const key of ['sec-websocket-key: wrong\r\n', '']) {
      const socket = connect(Number(new URL(listener.address).port), '127.0.0.1')
      socket.write(
        `GET /sessions/s/cdp HTTP/1.1\r\nhost: a\r\nx-api-key: ${keyPrefix}ann\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key}\r\n`,
      )
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect(opened).toBe(before + 2)
    await waitUntil(async () => opened === ended)
  })
})

test('incomplete messages are limited to the memory of one key', async () => {
  const part = Buffer.alloc(limits.messages.cdpBytes - 1)
  const all = await Promise.all(Array.from({ length: 5 }, () => come('/sessions/s/cdp', ann)))
  const gone = Promise.race(all.map(({ socket }) => once(socket, 'close')))
  for (const { socket } of all) socket.send(part, { fin: false })
  await gone
  expect(heard).toEqual([])
})
