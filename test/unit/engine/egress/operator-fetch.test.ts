import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { readProxies } from '../../../../src/core/config/proxy-settings.ts'
import { operatorFetch } from '../../../../src/engine/egress/operator-fetch.ts'

test.each([
  ['999 Odd', 'the status 999 is invalid'],
  ['407 Login', 'rejected the user name or the password'],
])('an answer of a proxy with the status %s is an error', async (status, message) => {
  const proxy = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)),
  ).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as { port: number }
  const proxies = readProxies({ HTTP_PROXY: `http://127.0.0.1:${port}` })
  const init = { headers: {}, redirect: 'error', signal: AbortSignal.timeout(60_000) } as const
  await expect(operatorFetch(new URL('http://api.test/'), init, proxies)).rejects.toThrow(message)
  proxy.close()
})
