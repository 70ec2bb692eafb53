/** What the server takes over websockets, and how many of them each caller may have open. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { allowancesOf } from '../../../src/core/access/quota.ts'
import { keyScopes } from '../../../src/core/access/caller.ts'
import type { Engine } from '../../../src/core/engine.ts'
import { keyPrefix, type KeyRing } from '../../../src/core/access/keys.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { closeCodes, type Link } from '../../../src/core/net/link.ts'
import { createApp } from '../../../src/server/app.ts'
import { type Listener, listen } from '../../../src/server/process/listen.ts'
import { Rates } from '../../../src/server/access/rate.ts'
import { until } from '../../support/session-steps.ts'

/** What has come, by its length; and what was made ready and has ended. */
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
  const rates = new Rates(allowancesOf({ rate: 0 }))
  const app = createApp({ engine, gate, sockets: 'here', rates })
  listener = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false, rates })
})
afterAll(() => listener.close())

const sockets: WebSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await until(async () => opened === ended)
  heard = []
})

/** Comes to the door; the status is 101 for who is let in. */
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
  test('takes messages as long as they may be, and closes on a longer one with 1009', async () => {
    const { socket } = await come(path, ann)
    const closed = once(socket, 'close')
    socket.send('x'.repeat(most))
    await until(async () => heard.length === 1)
    socket.send('x'.repeat(most + 1))
    expect([await codeOf(closed), heard]).toEqual([1009, [most]])
  })

  test('takes no message of more values than any body has', async () => {
    const { socket } = await come(path, ann)
    const closed = once(socket, 'close')
    socket.send(`[${'1,'.repeat(limits.input.values)}1]`)
    expect([await codeOf(closed), heard]).toEqual([closeCodes.protocol, []])
  })
})

test('only the tunnel is compressed, and a message counts as what it unpacks to', async () => {
  for (const path of ['/sessions/s/live', '/sessions/s/cdp', '/relay/sessions/r/cdp'])
    expect((await come(path, ann)).socket.extensions, path).toBe('')
  const { socket } = await come('/relay/connect', ann)
  expect(socket.extensions).toContain('permessage-deflate')
  const closed = once(socket, 'close')
  socket.send('x'.repeat(limits.messages.tunnelBytes + 1))
  expect([await codeOf(closed), heard]).toEqual([1009, []])
})

describe('of websockets', () => {
  const path = '/sessions/s/live'
  const { ofKey, ofToken } = limits.openEnds

  test('a key has so many open, and one more when one has gone', async () => {
    const all = await Promise.all(Array.from({ length: ofKey + 5 }, () => come(path, ann)))
    const [inside, refused] = [all.filter(({ status }) => status === 101), all.filter(({ status }) => status !== 101)]
    expect([inside.length, refused.map(({ status, wait }) => [status, wait])]).toEqual([
      ofKey,
      Array.from({ length: 5 }, () => [429, '2']),
    ])
    expect((await come(path, { 'x-api-key': `${keyPrefix}ben` })).status).toBe(101)
    inside[0]!.socket.terminate()
    await until(async () => (await come(path, ann)).status === 101)
  })

  test('a token has so many open, each token for itself', async () => {
    const all = await Promise.all(Array.from({ length: ofToken + 1 }, () => come(`${path}?token=ft_1`, {})))
    expect(all.filter(({ status }) => status === 429)).toHaveLength(1)
    expect((await come(path, { authorization: 'Bearer ft_1' })).status).toBe(429)
    expect((await come(`${path}?token=ft_2`, {})).status).toBe(101)
  })

  test('what asks for none, or goes away at the door, leaves nothing behind', async () => {
    const before = opened
    for (const key of ['sec-websocket-key: wrong\r\n', '']) {
      const socket = connect(Number(new URL(listener.address).port), '127.0.0.1')
      socket.write(
        `GET /sessions/s/cdp HTTP/1.1\r\nhost: a\r\nx-api-key: ${keyPrefix}ann\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key}\r\n`,
      )
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /)
    }
    expect(opened).toBe(before + 2)
    await until(async () => opened === ended)
  })
})

test('messages that never end take no more memory than there is for one key', async () => {
  const part = Buffer.alloc(limits.messages.cdpBytes - 1)
  const all = await Promise.all(Array.from({ length: 5 }, () => come('/sessions/s/cdp', ann)))
  const gone = Promise.race(all.map(({ socket }) => once(socket, 'close')))
  for (const { socket } of all) socket.send(part, { fin: false })
  await gone
  expect(heard).toEqual([])
})
