/** A local web site for one test file. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

type Page = string | ((request: IncomingMessage, response: ServerResponse) => void)

export interface Site {
  /** `http://HOST:PORT`, without a trailing slash. */
  readonly url: string
  /** Requested paths so far, in order. */
  readonly requests: string[]
  close(): Promise<void>
}

/** Serves HTML by path (`'/': '<h1>…'`) or by function; anything else is a 404. Listens on `host` only. */
export async function serveSite(
  pages: Record<string, Page>,
  host = '127.0.0.1',
  upgrade?: (request: IncomingMessage, socket: Duplex) => void,
): Promise<Site> {
  const requests: string[] = []
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://x').pathname
    requests.push(path)
    const page = pages[path]
    if (typeof page === 'function') return page(request, response)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.statusCode = page === undefined ? 404 : 200
    response.end(page ?? '<!doctype html><title>Not found</title><h1>Not found</h1>')
  })
  if (upgrade) server.on('upgrade', upgrade)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
