/** The opening words of SOCKS 5 (RFC 1928), as far as a browser speaks it: no password, and connections only. */
import type { Socket } from 'node:net'
import { limits } from '../../core/limits/limits.ts'

/** Where a browser wants to go. */
export interface Wish {
  /** A name, or an address in either notation. */
  readonly host: string
  readonly port: number
}

const version = 5
const noPassword = 0
const connect = 1
const kinds = { ipv4: 1, name: 3, ipv6: 4 }

export const replies = { done: 0, failed: 1, denied: 2, unreachable: 4, refused: 5 } as const

/** Where the browser on a socket wants to go; undefined when it hangs up, dawdles, or speaks something else. */
export function readWish(socket: Socket): Promise<Wish | undefined> {
  return new Promise((resolve) => {
    let heard: Buffer = Buffer.alloc(0)
    let greeted = false
    const done = (wish?: Wish, rest?: Buffer) => {
      clearTimeout(timer)
      socket.off('data', hear).off('close', gone).pause()
      // Before anything is handed back nobody may be listening.
      if (rest && rest.length > 0) socket.unshift(rest)
      resolve(wish)
    }
    const gone = () => done()
    const timer = setTimeout(gone, limits.egress.greetingMs)
    const hear = (chunk: Buffer) => {
      heard = heard.length === 0 ? chunk : Buffer.concat([heard, chunk])
      if (heard[0] !== version || heard.length > 2 * longest) return done()
      if (!greeted) {
        const end = 2 + (heard[1] ?? Number.POSITIVE_INFINITY)
        if (heard.length < end) return
        if (!heard.subarray(2, end).includes(noPassword)) return done()
        greeted = true
        heard = heard.subarray(end)
        socket.write(Buffer.from([version, noPassword]))
        if (heard.length === 0) return
      }
      const said = wishIn(heard)
      if (said === 'partial') return
      done(said?.wish, said && heard.subarray(said.length))
    }
    socket.on('data', hear).on('close', gone)
  })
}

/** The answer to a wish; the address that it has room for tells nobody anything. */
export const answerTo = (reply: number): Buffer => Buffer.from([version, reply, 0, kinds.ipv4, 0, 0, 0, 0, 0, 0])

const longest = 4 + 1 + 255 + 2

function wishIn(bytes: Buffer): { wish: Wish; length: number } | 'partial' | undefined {
  if (bytes.length < 5) return 'partial'
  if (bytes[0] !== version || bytes[1] !== connect) return undefined
  const kind = bytes[3]
  const start = kind === kinds.name ? 5 : 4
  const size = kind === kinds.name ? bytes[4]! : kind === kinds.ipv4 ? 4 : kind === kinds.ipv6 ? 16 : 0
  if (size === 0) return undefined
  const length = start + size + 2
  if (bytes.length < length) return 'partial'
  const host = bytes.subarray(start, start + size)
  return { wish: { host: spelled(host, kind!), port: bytes.readUInt16BE(start + size) }, length }
}

function spelled(bytes: Buffer, kind: number): string {
  if (kind === kinds.name) return bytes.toString('latin1')
  if (kind === kinds.ipv4) return bytes.join('.')
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16)).join(':')
}
