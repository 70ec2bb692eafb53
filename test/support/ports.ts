import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Returns a port on which nothing listens. On Linux it is none of those that the system gives to outgoing connections,
 * or that other tests get, which could take it before the caller does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOnce(candidate())
    if (port === undefined || given.has(port)) continue
    given.add(port)
    return port
  }
}

const given = new Set<number>()

const lowest = 10_000
/** Number of processes that run tests at once, at most. */
const processes = 16

function candidate(): number {
  if (process.platform !== 'linux') return 0
  const first = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'))
  const share = Math.floor((first - lowest) / processes)
  const own = lowest + (Number(process.env['VITEST_POOL_ID'] ?? 0) % processes) * share
  return share > 0 ? own + Math.floor(Math.random() * share) : 0
}

/** Listens on a port, or any if it is 0; returns undefined if it is taken. */
const listenOnce = (wanted: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const server = createServer().once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
