/** SOCKS 5 handshake (RFC 1928), as far as browsers use it: no authentication, CONNECT only. */
import type { Socket } from 'node:net'
import { limits } from '../../core/limits/limits.ts'

/** Target of a connection request. */
export interface SocksRequest {
  /** Host name, IPv4 or IPv6 address. */
  readonly host: string
  readonly port: number
}

const version = 5
const noPassword = 0
const connect = 1
const kinds = { ipv4: 1, name: 3, ipv6: 4 }

export const replies = { done: 0, failed: 1, denied: 2, unreachable: 4, refused: 5 } as const

/** Reads the connection request of a browser; undefined when it disconnects, times out, or violates the protocol. */
export function readRequest(socket: Socket): Promise<SocksRequest | undefined> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0)
    let greeted = false
    const finish = (request?: SocksRequest, rest?: Buffer) => {
      clearTimeout(timer)
      // Remove the listeners before data is put back.
      socket.off('data', onData).off('close', onClose).pause()
      if (rest && rest.length > 0) socket.unshift(rest)
      resolve(request)
    }
    const onClose = () => finish()
    const timer = setTimeout(onClose, limits.egress.greetingMs)
    const onData = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (received[0] !== version || received.length > 2 * maxRequestBytes) return finish()
      if (!greeted) {
        const end = 2 + (received[1] ?? Number.POSITIVE_INFINITY)
        if (received.length < end) return
        if (!received.subarray(2, end).includes(noPassword)) return finish()
        greeted = true
        received = received.subarray(end)
        socket.write(Buffer.from([version, noPassword]))
        if (received.length === 0) return
      }
      const parsed = parseRequest(received)
      if (parsed === 'partial') return
      finish(parsed?.request, parsed && received.subarray(parsed.length))
    }
    socket.on('data', onData).on('close', onClose)
  })
}

/** Builds the reply to a request, with an empty address field. */
export const replyTo = (reply: number): Buffer => Buffer.from([version, reply, 0, kinds.ipv4, 0, 0, 0, 0, 0, 0])

const maxRequestBytes = 4 + 1 + 255 + 2

function parseRequest(bytes: Buffer): { request: SocksRequest; length: number } | 'partial' | undefined {
  if (bytes.length < 5) return 'partial'
  if (bytes[0] !== version || bytes[1] !== connect) return undefined
  const kind = bytes.readUInt8(3)
  const start = kind === kinds.name ? 5 : 4
  const size = kind === kinds.name ? bytes.readUInt8(4) : kind === kinds.ipv4 ? 4 : kind === kinds.ipv6 ? 16 : 0
  if (size === 0) return undefined
  const length = start + size + 2
  if (bytes.length < length) return 'partial'
  const host = bytes.subarray(start, start + size)
  return { request: { host: formatHost(host, kind), port: bytes.readUInt16BE(start + size) }, length }
}

function formatHost(bytes: Buffer, kind: number): string {
  if (kind === kinds.name) return bytes.toString('latin1')
  if (kind === kinds.ipv4) return bytes.join('.')
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16)).join(':')
}
