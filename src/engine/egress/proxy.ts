/**
 * SOCKS proxy on a loopback address that all connections of the engine's browsers go through. It resolves each name
 * once, checks the addresses against the policy, and connects only to checked addresses.
 */
import { randomInt } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { platform } from 'node:os'
import { limits } from '../../core/limits/limits.ts'
import type { AllowedHosts } from './allowed-hosts.ts'
import type { Failures } from './failures.ts'
import { replyTo, readRequest, replies, type SocksRequest } from './socks-handshake.ts'
import type { HostResolver } from './host-resolver.ts'
import type { Policy } from './policy.ts'
import type { Counter } from '../../core/access/quota.ts'
import type { Origin } from '../../core/process/turns.ts'

export interface ProxyContext {
  readonly policy: Policy
  readonly names: HostResolver
  readonly failures: Failures
  /** Hosts that may be connected to; all when missing. */
  readonly allowed?: AllowedHosts | undefined
  /** Connections of all proxies, by key; a key has a share of them. */
  readonly connections: Counter<Origin>
}

export interface Proxy {
  /** Value for the browser's `--proxy-server`. */
  readonly url: string
  /** Sets the key that further connections count for; initially null, the engine itself. */
  belongTo(from: Origin): void
  /** Closes all connections. */
  close(): Promise<void>
}

const { connections: mostConnections } = limits.egress

/** Counts a connection of a browser for its key; closes it and returns false if there are too many. */
export function admit(socket: Socket, connections: Counter<Origin>, from: Origin): boolean {
  const share = from === null ? mostConnections : mostConnections * limits.overload.partOfKey
  const isAdmitted = connections.total < mostConnections && connections.of(from) < share
  if (isAdmitted) socket.on('close', connections.take(from))
  else socket.destroy()
  return isAdmitted
}

export async function openProxy(egress: ProxyContext): Promise<Proxy> {
  const open = new Set<Socket>()
  let from: Origin = null
  const track = (socket: Socket) => {
    open.add(socket)
    // The close event that follows an error closes the other end.
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (!admit(socket, egress.connections, from)) return
    void serve(socket, { ...egress, from }, track)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, loopbackAddress(), resolve))
  const { address, port } = server.address() as AddressInfo
  return {
    url: `socks5://${address}:${port}`,
    belongTo: (owner) => void (from = owner),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

interface OwnedContext extends ProxyContext {
  readonly from: Origin
}

async function serve(socket: Socket, egress: OwnedContext, track: (socket: Socket) => void): Promise<void> {
  track(socket)
  const request = await readRequest(socket)
  if (!request) return void socket.destroy()
  const { failures, policy, allowed } = egress
  try {
    allowed?.checkConnection(request.host, request.port)
    policy.checkTarget(request.host, request.port)
    const target = await dial(request, socket, egress, track)
    failures.record(request.host, request.port)
    socket.write(replyTo(replies.done))
    join(socket, target)
  } catch (error) {
    failures.record(request.host, request.port, error)
    socket.write(replyTo(replyFor(error)))
    socket.destroySoon()
  }
}

function dial(
  { host, port }: SocksRequest,
  client: Socket,
  { names, from }: OwnedContext,
  track: (socket: Socket) => void,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const left = new AbortController()
    const lookup = names.lookupFor({ from, signal: left.signal })
    // The socket connects only to addresses that `lookup` has checked.
    const target = connect({ host, port, lookup, allowHalfOpen: true, noDelay: true, keepAlive: true })
    track(target)
    const giveUp = () => {
      target.destroy(timeoutError())
      left.abort(timeoutError())
    }
    const timer = setTimeout(giveUp, limits.egress.dialMs)
    client.once('close', giveUp)
    target.once('error', reject)
    target.once('connect', () => {
      target.off('error', reject)
      resolve(target)
    })
    const onSettled = () => {
      clearTimeout(timer)
      client.off('close', giveUp)
    }
    target.once('connect', onSettled).once('close', onSettled)
  })
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
