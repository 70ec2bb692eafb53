/**
 * The one way out for the engine's browsers: a SOCKS proxy on an address of this machine. It resolves a name once,
 * refuses what may not be reached, dials what it has checked and joins the two ends.
 */
import { randomInt } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { platform } from 'node:os'
import { limits } from '../../core/limits/limits.ts'
import type { Failures } from './failures.ts'
import { answerTo, readWish, replies, type Wish } from './greeting.ts'
import type { Names } from './names.ts'
import type { Policy } from './policy.ts'

export interface ProxyMeans {
  readonly policy: Policy
  readonly names: Names
  readonly failures: Failures
}

export class Proxy {
  readonly #server: Server
  readonly #means: ProxyMeans
  readonly #open = new Set<Socket>()

  private constructor(server: Server, means: ProxyMeans) {
    this.#server = server
    this.#means = means
    server.on('connection', (socket) => void this.#serve(socket))
  }

  static async open(means: ProxyMeans): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    server.maxConnections = limits.egress.connections
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, ownAddress(), resolve))
    return new Proxy(server, means)
  }

  /** As the browser's `--proxy-server` takes it. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo
    return `socks5://${address}:${port}`
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  async #serve(socket: Socket): Promise<void> {
    this.#keep(socket)
    const wish = await readWish(socket)
    if (!wish) return void socket.destroy()
    const { failures, policy } = this.#means
    try {
      policy.checkTarget(wish.host, wish.port)
      const target = await this.#dial(wish, socket)
      failures.note(wish.host, wish.port)
      socket.write(answerTo(replies.done))
      join(socket, target)
    } catch (error) {
      failures.note(wish.host, wish.port, error)
      socket.write(answerTo(replyFor(error)))
      socket.destroySoon()
    }
  }

  #dial({ host, port }: Wish, client: Socket): Promise<Socket> {
    const { lookup } = this.#means.names
    return new Promise((resolve, reject) => {
      // The addresses that `lookup` gives were checked, and the socket asks for no others.
      const target = connect({ host, port, lookup, allowHalfOpen: true, noDelay: true, keepAlive: true })
      this.#keep(target)
      const timer = setTimeout(() => target.destroy(tooLate()), limits.egress.dialMs)
      const hungUp = () => target.destroy(tooLate())
      client.once('close', hungUp)
      target.once('error', reject)
      target.once('connect', () => {
        target.off('error', reject)
        resolve(target)
      })
      target.once('connect', settled).once('close', settled)
      function settled() {
        clearTimeout(timer)
        client.off('close', hungUp)
      }
    })
  }

  #keep(socket: Socket): void {
    this.#open.add(socket)
    // Whoever is at the other end hears of it by the close that follows.
    socket.on('error', () => {}).on('close', () => this.#open.delete(socket))
  }
}

/** Joins two sockets until both have said all; when one breaks, so does the other. */
function join(client: Socket, target: Socket): void {
  const follow = (from: Socket, to: Socket) => {
    from.pipe(to)
    // One who has said all has a while to hear the rest; who never hangs up holds no place for ever.
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

const tooLate = (): NodeJS.ErrnoException => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })

/** An address for listening, one of sixteen million where the system gives them all to this machine: not to be found by trying. */
export const ownAddress = (): string =>
  platform() === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}` : '127.0.0.1'
