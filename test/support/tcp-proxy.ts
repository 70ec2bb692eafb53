/** A TCP proxy that can be interrupted, for tests of lost connections. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Returns the number of connections so far. */
  connections(): number
  /** Closes all connections; returns false if there were none. */
  interrupt(): boolean
  /** Closes all connections, and rejects new ones until `restore`. */
  block(): void
  restore(): void
  close(): Promise<void>
}

/** Starts a proxy to a port on 127.0.0.1. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const open = new Set<Socket>()
  let connections = 0
  let blocked = false
  const server = createServer((near) => {
    if (blocked) return near.destroy()
    connections += 1
    const far = connect(port, '127.0.0.1')
    forward(near, far)
    forward(far, near)
  })
  const forward = (from: Socket, to: Socket) => {
    open.add(from)
    from.pipe(to)
    from
      .on('error', () => {})
      .on('close', () => {
        open.delete(from)
        to.destroy()
      })
  }
  const interrupt = () => {
    const any = open.size > 0
    for (const socket of open) socket.destroy()
    open.clear()
    return any
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    interrupt,
    block() {
      blocked = true
      interrupt()
    },
    restore() {
      blocked = false
    },
    close: () =>
      new Promise((resolve) => {
        interrupt()
        server.close(() => resolve())
      }),
  }
}
