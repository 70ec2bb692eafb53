/** Proxies of sessions that do not pass on requests: always an error, whatever the scheme of the page and of the proxy. */
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { freePort } from '../support/ports.ts'
import { open } from '../support/session-steps.ts'

let homes: Homes
let client: Client
beforeAll(async () => {
  homes = await openHomes()
  client = homes.clients.http
})
afterAll(() => homes.close())

// Nothing listens there: without its proxy, a session could not open it either.
const urls = ['http://127.0.0.1:8080/page', 'https://127.0.0.1:8080/page']

/** Opens a URL in a session with a proxy; returns the result of the command. */
async function openThrough(
  proxy: { server: string; username?: string; password?: string; bypass?: string },
  url: string,
) {
  const { session_id: id } = await client.createSession({ proxy })
  const { results, error, code } = (await open(client, id!, url)) as Awaited<ReturnType<typeof open>> & {
    code?: string
  }
  await client.closeSession({ session_id: id! })
  return { data: results[0]?.data, error, code }
}

async function listenOn(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

test.each(urls.flatMap((url) => ['http', 'socks5'].map((scheme) => [scheme, url])))(
  'a dead %s proxy is an error that names it, for %s',
  async (scheme, url) => {
    const server = `${scheme}://127.0.0.1:${await freePort()}`
    const { error, code } = await openThrough({ server }, url)
    expect({ error, code }).toEqual({
      error: expect.stringMatching(new RegExp(`the proxy ${server} (?:refused the connection|failed)`)),
      code: 'proxy_failed',
    })
    const { warning } = await client.createSession({ proxy: { server }, start_url: url })
    expect(warning).toContain(`the proxy ${server} `)
  },
)

test.each(urls)('a proxy that closes every connection is an error, for %s', async (url) => {
  const proxy = createServer((socket: Socket) => socket.on('error', () => {}).destroy())
  const server = `http://127.0.0.1:${await listenOn(proxy)}`
  expect(await openThrough({ server }, url)).toMatchObject({
    code: 'proxy_failed',
    error: expect.stringContaining(`the proxy ${server} closed the connection`),
  })
  await new Promise((resolve) => proxy.close(resolve))
})

test.each(urls)('a proxy that rejects the password is an error, for %s', async (url) => {
  const proxy = createHttp((_request, response) => response.writeHead(407).end())
  proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  const server = `http://127.0.0.1:${await listenOn(proxy)}`
  const found = await openThrough({ server, username: 'ann', password: 'geheim' }, url)
  expect(found).toMatchObject({
    code: 'proxy_failed',
    error: expect.stringContaining(`the proxy ${server} rejected the user name or the password`),
  })
  expect(JSON.stringify(found)).not.toContain('geheim')
  await new Promise((resolve) => proxy.close(resolve))
})

test('answers of a site through the proxy stay as they are, and hosts that bypass it have their own errors', async () => {
  const proxy = createHttp((_request, response) =>
    response.writeHead(594, { 'content-type': 'text/html' }).end('<title>Own</title>'),
  )
  const server = `http://127.0.0.1:${await listenOn(proxy)}`
  expect(await openThrough({ server }, urls[0]!)).toMatchObject({ error: undefined, data: { status_code: 594 } })
  const dead = `http://127.0.0.1:${await freePort()}/`
  const found = await openThrough({ server, bypass: '127.0.0.1' }, dead)
  expect(found).toMatchObject({ code: 'connection_failed', error: expect.stringContaining('ERR_CONNECTION_REFUSED') })
  await new Promise((resolve) => proxy.close(resolve))
})
