/** Raw clients of a server that never close their side of a connection. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Connects and sends `text`; received bytes are discarded. */
export async function connectHalfOpen(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket.resume()
}

/** The request that asks for a websocket at `path`. */
export const upgradeRequest = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

/** Asks for a websocket at `url`; resolves with the status of the response and the socket, which stays open. */
export async function upgradeHalfOpen(url: string): Promise<{ status: number; socket: Socket }> {
  const { port, pathname, search } = new URL(url)
  const socket = await connectHalfOpen(Number(port), upgradeRequest(pathname + search))
  const [first] = (await once(socket, 'data')) as [Buffer]
  return { status: Number(first.toString('latin1').split(' ')[1]), socket }
}
