/**
 * Sends one call over a Unix socket with node:net alone: loading node:http costs a one-liner 8 ms of its 80 ms.
 * It uses HTTP/1.0, whose response ends with the connection and has no chunks.
 */
import { connectUnlessAborted } from '../core/net/abortable-socket.ts'
import type { Transport, WireResponse } from './transport.ts'
import { unreachable } from './transport.ts'

/** Creates a transport for calls with a single response; streams need `overSocket`. */
export function overQuickSocket(path: string): Transport {
  return {
    send: ({ method, path: target, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const socket = connectUnlessAborted(path, signal, reject)
        const fail = (error: unknown) => reject(unreachable(path, error))
        const chunks: Buffer[] = []
        socket.on('error', fail)
        socket.on('data', (chunk) => chunks.push(chunk))
        socket.on('end', () => {
          try {
            resolve(parse(Buffer.concat(chunks)))
          } catch (error) {
            fail(error)
          }
        })
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
        const fields = Object.entries({ host: 'localhost', ...headers, ...length })
        const head = [`${method} ${target} HTTP/1.0`, ...fields.map(([name, value]) => `${name}: ${value}`), '', '']
        socket.write(head.join('\r\n') + (body ?? ''))
      }),
    async close() {},
  }
}

function parse(bytes: Buffer): WireResponse {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) throw cutOff()
  const [status = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = bytes.subarray(end + 4)
  const declared = headers['content-length']
  if (declared !== undefined && Number(declared) !== body.length) throw cutOff()
  return {
    status: Number(status.split(' ')[1]),
    headers,
    text: async () => body.toString('utf8'),
    stream: async function* () {
      yield body
    },
  }
}

const cutOff = () => Object.assign(new Error('the response was truncated'), { code: 'ECONNRESET' })
