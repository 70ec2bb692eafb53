/** Two addresses: one that the engine may reach (127.0.0.2), and one that it must never reach (127.0.0.3). */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net'
import type { EngineConfig, HostLookup } from '../../src/core/config/config.ts'

type Page = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** Records all incoming TCP and UDP traffic, and responds to HTTP requests. */
interface TrafficRecorder {
  readonly address: string
  readonly port: number
  /** Returns the number of connections and datagrams so far. */
  readonly contacts: () => number
  /** Requested paths. */
  readonly paths: readonly string[]
  close(): Promise<void>
}

export interface PrivateNet {
  /** URL of the site by host name: `http://site.open.test:PORT`. */
  readonly url: string
  readonly site: { readonly port: number; readonly requests: readonly string[] }
  readonly allowed: TrafficRecorder
  readonly blocked: TrafficRecorder
  /** Resolved host names. */
  readonly resolvedNames: Set<string>
  /** Settings of an engine that may reach 127.0.0.2 and resolves names below `open.test` and `private.test`. */
  readonly config: Pick<EngineConfig, 'allowPrivate' | 'lookup'>
  close(): Promise<void>
}

const allowedAddress = '127.0.0.2'
const blockedAddress = '127.0.0.3'

/** Serves the pages by path; other paths respond with 404. */
export async function openPrivateNet(pages: Record<string, Page>): Promise<PrivateNet> {
  const [site, allowed, blocked] = await Promise.all([
    serve(pages),
    recordTraffic(allowedAddress),
    recordTraffic(blockedAddress),
  ])
  const resolvedNames = new Set<string>()
  const lookup: HostLookup = async (host) => {
    resolvedNames.add(host)
    const addresses = addressesOf(host)
    if (addresses.length === 0) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' })
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return {
    url: `http://site.open.test:${site.port}`,
    site,
    allowed,
    blocked,
    resolvedNames,
    config: { allowPrivate: [allowedAddress], lookup },
    close: async () => {
      await Promise.all([site.close(), allowed.close(), blocked.close()])
    },
  }
}

function addressesOf(host: string): string[] {
  if (host.endsWith('.open.test')) return [allowedAddress]
  if (host.endsWith('.private.test')) return [blockedAddress]
  const known: Record<string, string[]> = {
    'mapped.test': [`::ffff:${blockedAddress}`],
    'both.test': [blockedAddress, allowedAddress],
    'metadata.test': ['169.254.169.254'],
    localhost: ['127.0.0.1', '::1'],
  }
  return known[host] ?? []
}

async function serve(pages: Record<string, Page>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://x').pathname
    requests.push(request.url!)
    const page = pages[path]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page ?? 'nothing')
  })
  await new Promise<void>((resolve) => server.listen(0, allowedAddress, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Valid as a page, a script and a style sheet, from any origin. */
const answer = [
  'HTTP/1.1 200 OK',
  'content-type: text/javascript',
  'access-control-allow-origin: *',
  'connection: close',
  'content-length: 0',
  '',
  '',
].join('\r\n')

/** Listens for TCP and UDP on one port. */
async function listenOnBoth(server: RawServer, address: string): Promise<{ port: number; datagrams: DatagramSocket }> {
  for (;;) {
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    const { port } = server.address() as AddressInfo
    const datagrams = createSocket('udp4')
    const isBound = await new Promise<boolean>((resolve, reject) => {
      // A port that is free for TCP may be in use for UDP.
      datagrams.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
      )
      datagrams.bind(port, address, () => resolve(true))
    })
    if (isBound) return { port, datagrams }
    datagrams.close()
    await new Promise((resolve) => server.close(resolve))
  }
}

async function recordTraffic(address: string): Promise<TrafficRecorder> {
  const sockets = new Set<Socket>()
  const paths: string[] = []
  let contacts = 0
  const server = createRawServer((socket) => {
    contacts++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.once('data', (chunk) => {
      const [, path] = /^[A-Z]+ (\S+) HTTP/.exec(chunk.toString('latin1')) ?? []
      if (path !== undefined) paths.push(path)
      socket.end(answer)
    })
  })
  const { port, datagrams } = await listenOnBoth(server, address)
  datagrams.on('message', () => contacts++)
  return {
    address,
    port,
    paths,
    contacts: () => contacts,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await Promise.all([
        new Promise<void>((resolve) => server.close(() => resolve())),
        new Promise<void>((resolve) => datagrams.close(resolve)),
      ])
    },
  }
}
