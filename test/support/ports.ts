import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Returns a port on which nothing listens. On Linux it is none of those that the system gives to outgoing connections,
 * which could take it before the caller does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOnce(candidate())
    if (port !== undefined) return port
  }
}

const lowest = 10_000

function candidate(): number {
  if (process.platform !== 'linux') return 0
  const first = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'))
  return first > lowest ? lowest + Math.floor(Math.random() * (first - lowest)) : 0
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
