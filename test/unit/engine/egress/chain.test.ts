/** The local proxy in front of another one. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { limits } from '../../../../src/core/limits/limits.ts'
import { Egress } from '../../../../src/engine/egress/egress.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A proxy that remembers what it is asked for, and a route of a key through it. */
async function route() {
  const asked: string[] = []
  const upstream = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (head) => {
        asked.push(String(head).split('\r\n')[0]!)
        socket.end('HTTP/1.1 200 OK\r\n\r\n')
      }),
  ).listen(0, '127.0.0.1')
  closing.push(() => upstream.close())
  await once(upstream, 'listening')
  const { port } = upstream.address() as { port: number }
  const egress = new Egress({ home: 'local', lookup: async () => [{ address: '127.0.0.1', family: 4 }] })
  const { proxy, close } = await egress.route({ proxy: { server: `http://127.0.0.1:${port}` }, from: 'key_a' })
  closing.push(() => egress.close(), close)
  return { asked, egress, local: new URL(proxy!.server) }
}

/** Sends a request for a tunnel, and returns the answer. */
async function tunnel({ hostname, port }: URL, target: string): Promise<string> {
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
  let answer = ''
  for await (const part of socket) {
    answer += part
    if (answer.includes('\r\n\r\n')) break
  }
  return answer
}

test('passes tunnels on', async () => {
  const { asked, local } = await route()
  expect(await tunnel(local, 'shop.test:443')).toMatch(/^HTTP\/1\.1 200 /)
  expect(asked).toEqual(['CONNECT shop.test:443 HTTP/1.1'])
})

test.each(['xn--a.attacker.test:443', '1.2.3.4.5.6:443'])('connects to no host that is no URL: %s', async (target) => {
  const { asked, local } = await route()
  expect(await tunnel(local, target)).not.toMatch(/^HTTP\/1\.1 200 /)
  expect(asked).toEqual([])
})

test('counts connections for their key, and refuses more than its share', async () => {
  const { egress, local } = await route()
  const share = limits.egress.connections * limits.overload.partOfKey
  const taken = Array.from({ length: share }, () => egress.connections.take('key_a'))
  expect(await tunnel(local, 'shop.test:443')).toBe('')
  for (const release of taken) release()
  expect(await tunnel(local, 'shop.test:443')).toMatch(/^HTTP\/1\.1 200 /)
})
