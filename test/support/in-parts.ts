/** Requests that a test sends in parts, over a connection whose responses it reads when it wants to. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

interface Received {
  readonly status: number
  readonly headers: string
  // Tests know the shape of the response.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface ConnectionInParts {
  readonly socket: Socket
  /** Sends the head of a request, and the first bytes of its body. */
  begin(line: string, headers?: Readonly<Record<string, string | number>>, first?: Uint8Array | string): Promise<void>
  /** Resolves once the system has taken the bytes. */
  send(bytes: Uint8Array | string): Promise<void>
  /** Returns the next response. Rejects if the connection ends first. */
  receive(): Promise<Received>
}

/** Connects to a server at a URL. */
export async function connectInParts(url: string): Promise<ConnectionInParts> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = Buffer.alloc(0)
  let failure: Error | undefined
  let wake = () => {}
  const fail = (error: Error) => {
    failure ??= error
    wake()
  }
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')))
  await once(socket, 'connect')
  const take = (): Received | undefined => {
    const at = received.indexOf('\r\n\r\n')
    if (at < 0) return undefined
    const headers = received.subarray(0, at).toString()
    const end = at + 4 + Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0)
    if (received.length < end) return undefined
    const text = received.subarray(at + 4, end).toString()
    received = received.subarray(end)
    return { status: Number(headers.split(' ')[1]), headers, body: text === '' ? undefined : JSON.parse(text) }
  }
  const send = (bytes: Uint8Array | string) =>
    new Promise<void>((resolve, reject) => void socket.write(bytes, (error) => (error ? reject(error) : resolve())))
  return {
    socket,
    send,
    async begin(line, headers = {}, first = '') {
      const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
      await send(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`)
      await send(first)
    },
    async receive() {
      for (;;) {
        const response = take()
        if (response) return response
        if (failure) throw failure
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

/** Sends a request with a long body as clients do that read nothing before they have sent everything. */
export async function sendBeforeReading(
  { socket, begin, send }: ConnectionInParts,
  line: string,
  { length, ...headers }: Readonly<Record<string, string | number>> & { readonly length: number },
): Promise<void> {
  socket.pause()
  await begin(line, { 'content-length': length, ...headers })
  const piece = Buffer.alloc(1024 * 1024)
  for (let sent = 0; sent < length; sent += piece.length) await send(piece.subarray(0, length - sent))
  socket.resume()
}
