/**
 * SOCKS proxy on a loopback address that all connections of the engine's browsers go through. It resolves each name
 * once, checks the addresses against the policy, and connects only to checked addresses.
 */
import { randomInt } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'
import { limits } from '../../core/limits/limits.ts'
import type { Failures } from './failures.ts'
import { replyTo, readRequest, replies, type SocksRequest } from './socks-handshake.ts'
import type { HostResolver } from './host-resolver.ts'
import type { Policy } from './policy.ts'

export interface ProxyContext {
  readonly policy: Policy
  readonly names: HostResolver
  readonly failures: Failures
}

export class Proxy {
  readonly #server: Server
  readonly #egress: ProxyContext
  readonly #open = new Set<Socket>()

  private constructor(server: Server, egress: ProxyContext) {
    this.#server = server
    this.#egress = egress
    server.on('connection', (socket) => void this.#serve(socket))
  }

  static async open(egress: ProxyContext): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    server.maxConnections = limits.egress.connections
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, loopbackAddress(), resolve))
    return new Proxy(server, egress)
  }

  /** Value for the browser's `--proxy-server`. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo
    return `socks5://${address}:${port}`
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  async #serve(socket: Socket): Promise<void> {
    this.#track(socket)
    const request = await readRequest(socket)
    if (!request) return void socket.destroy()
    const { failures, policy } = this.#egress
    try {
      policy.checkTarget(request.host, request.port)
      const target = await this.#dial(request, socket)
      failures.record(request.host, request.port)
      socket.write(replyTo(replies.done))
      join(socket, target)
    } catch (error) {
      failures.record(request.host, request.port, error)
      socket.write(replyTo(replyFor(error)))
      socket.destroySoon()
    }
  }

  #dial({ host, port }: SocksRequest, client: Socket): Promise<Socket> {
    const { lookup } = this.#egress.names
    return new Promise((resolve, reject) => {
      // The socket connects only to addresses that `lookup` has checked.
      const target = connect({ host, port, lookup, allowHalfOpen: true, noDelay: true, keepAlive: true })
      this.#track(target)
      const timer = setTimeout(() => target.destroy(timeoutError()), limits.egress.dialMs)
      const onHangUp = () => target.destroy(timeoutError())
      client.once('close', onHangUp)
      target.once('error', reject)
      target.once('connect', () => {
        target.off('error', reject)
        resolve(target)
      })
      target.once('connect', onSettled).once('close', onSettled)
      function onSettled() {
        clearTimeout(timer)
        client.off('close', onHangUp)
      }
    })
  }

  #track(socket: Socket): void {
    this.#open.add(socket)
    // The close event that follows an error closes the other end.
    socket.on('error', () => {}).on('close', () => this.#open.delete(socket))
  }
}

/** Pipes two sockets into each other until both have ended; resets one when the other breaks. */
function join(client: Socket, target: Socket): void {
  const follow = (from: Socket, to: Socket) => {
    from.pipe(to)
    // After one side has ended, limit the time of the other.
    from.once('end', () => to.setTimeout(limits.egress.lingerMs, () => to.destroy()))
    from.on('close', (broken) => (broken ? to.resetAndDestroy() : from.readableEnded || to.destroy()))
  }
  follow(client, target)
  follow(target, client)
}

function replyFor(error: unknown): number {
  const { code } = error as { code?: string }
  if (code === 'url_blocked') return replies.denied
  if (code === 'ECONNREFUSED') return replies.refused
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? replies.unreachable : replies.failed
}

const timeoutError = (): NodeJS.ErrnoException => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })

/** Returns a loopback address to listen on; on Linux one of sixteen million, so that others cannot guess it. */
export const loopbackAddress = (): string =>
  platform() === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}` : '127.0.0.1'
