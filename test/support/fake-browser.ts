/** A fake browser on a debugging port: sends what a test tells it to, optionally as a proxy of a real one. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

export type Message = string | Buffer

export interface FakeBrowser {
  /** `ws://127.0.0.1:PORT` */
  readonly url: string
  /** Sends a message to the latest client. */
  send(message: Message): void
  /** Messages of the real browser to that client. */
  readonly received: readonly string[]
  /** Code and reason with which clients closed connections. */
  readonly closeEvents: readonly { code: number; reason: string }[]
  close(): Promise<void>
}

/**
 * Responds to every call with `answer`; or forwards calls to the real browser at `behind` (`http://HOST:PORT`), whose
 * messages go through `pass`.
 */
export async function startFakeBrowser({
  answer,
  behind,
  pass = (text) => [text],
}: FakeBrowserOptions): Promise<FakeBrowser> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const received: string[] = []
  const closeEvents: { code: number; reason: string }[] = []
  let last: WebSocket | undefined
  server.on('connection', (socket) => {
    last = socket
    received.length = 0
    // A disconnected client may still be sending.
    socket.on('error', () => {})
    socket.on('close', (code, reason) => closeEvents.push({ code, reason: reason.toString() }))
    if (answer !== undefined) socket.on('message', () => socket.send(answer))
    if (behind !== undefined)
      void forwardTo(socket, behind, (text) => {
        received.push(text)
        return pass(text)
      })
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}`,
    send: (message) => last!.send(message),
    received,
    closeEvents,
    close: async () => {
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

interface FakeBrowserOptions {
  readonly answer?: Message
  readonly behind?: string
  readonly pass?: (text: string) => readonly string[]
}

async function forwardTo(socket: WebSocket, behind: string, pass: (text: string) => readonly string[]): Promise<void> {
  const early: string[] = []
  const keep = (data: Buffer) => void early.push(data.toString())
  socket.on('message', keep)
  const { webSocketDebuggerUrl } = (await (await fetch(`${behind}/json/version`)).json()) as Version
  const real = new WebSocket(webSocketDebuggerUrl, { perMessageDeflate: false })
  await once(real, 'open')
  socket.off('message', keep)
  for (const text of early) real.send(text)
  socket.on('message', (data: Buffer) => real.send(data.toString()))
  socket.on('close', () => real.close())
  real.on('message', (data: Buffer) => pass(data.toString()).forEach((text) => socket.send(text)))
}

interface Version {
  readonly webSocketDebuggerUrl: string
}
