/** A forward proxy on 127.0.0.1, which knows names below `.test` that this machine cannot resolve. */
import { lookup } from 'node:dns'
import { Server } from 'proxy-chain'

export interface ForwardProxy {
  /** `http://127.0.0.1:PORT`, without the password. */
  readonly url: string
  /** Requests that passed through it: `GET http://shop.test:80/` or `CONNECT shop.test:443`. */
  readonly passed: string[]
  close(): Promise<void>
}

/** Starts the proxy; with a `login`, it rejects other user names and passwords. */
export async function serveProxy(login?: {
  readonly username: string
  readonly password: string
}): Promise<ForwardProxy> {
  const passed: string[] = []
  const server = new Server({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: ({ request, username, password }) => {
      if (login && (username !== login.username || password !== login.password)) return { requestAuthentication: true }
      passed.push(`${request.method} ${request.url}`)
      const toHere = (host: string, ...rest: unknown[]) =>
        lookup(host.endsWith('.test') ? '127.0.0.1' : host, ...(rest as [never]))
      return { dnsLookup: toHere as typeof lookup }
    },
  })
  await server.listen()
  return { url: `http://127.0.0.1:${server.port}`, passed, close: () => server.close(true) }
}
