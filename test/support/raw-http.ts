/** Requests as bytes on a socket, with headers that no client would send. */
import { connect } from 'node:net'
import type { FuzzedRequest } from './fuzz.ts'

/** Sends a request as bytes, without any normalization; status 0 if the server disconnects without a response. */
export function sendRaw(
  port: number,
  { method, target, headers, body = '' }: FuzzedRequest,
): Promise<{ status: number; text: string }> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lines = Object.entries({
    host: '127.0.0.1',
    connection: 'close',
    'content-length': String(bytes.length),
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'))
      socket.write(bytes)
    })
    const parse = () => {
      const [head = '', text = ''] = split(Buffer.concat(chunks).toString())
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
      return { status, text: /transfer-encoding: chunked/i.test(head) ? text.split('\r\n')[1]! : text }
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      // Do not wait for the end of a stream or websocket.
      const { status } = parse()
      if (status === 101 || status === 200) socket.destroy()
    })
    // The server may reject it in the middle of its body.
    socket.on('error', () => {})
    socket.on('close', () => resolve(parse()))
  })
}

function split(text: string): string[] {
  const at = text.indexOf('\r\n\r\n')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 4)]
}
