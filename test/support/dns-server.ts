/** A DNS server on this machine, with a few names; it never answers for names below `silent.test`. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

export interface DnsServer {
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** Names that were asked for, with their types: `a.test A`. */
  readonly questions: readonly string[]
  close(): Promise<void>
}

const types: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' }
const codes = { ok: 0, failed: 2, missing: 3 }

/** Starts a server. Names without addresses do not exist; the look-up of `failed` fails. */
export async function serveDns(names: Readonly<Record<string, readonly string[] | 'failed'>>): Promise<DnsServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = questionIn(message)
    questions.push(`${name} ${types[type] ?? type}`)
    if (name.endsWith('silent.test') || (name.endsWith('half.test') && type === 28)) return
    const known = names[name]
    const fitting = Array.isArray(known) ? known.filter((one) => isIPv6(one) === (type === 28)) : []
    const code = known === undefined ? codes.missing : known === 'failed' ? codes.failed : codes.ok
    socket.send(answer(message.subarray(0, end), { code, type, addresses: fitting }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function questionIn(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

interface Facts {
  readonly code: number
  readonly type: number
  readonly addresses: readonly string[]
}

function answer(question: Buffer, { code, type, addresses }: Facts): Buffer {
  const head = Buffer.from(question)
  // A response to a recursive question, without additional records.
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) => {
    const data = bytesOf(address)
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(60, 6)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([head, ...records])
}

/** IPv6 addresses are written in full. */
const bytesOf = (address: string): Buffer =>
  isIPv6(address)
    ? Buffer.from(
        address
          .split(':')
          .map((part) => part.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number))
