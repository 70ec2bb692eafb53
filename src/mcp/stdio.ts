/** Serves one client over standard input and output, until the client or its host is gone. */
import {
  type JSONRPCMessage,
  type McpRequestContext,
  parseJSONRPCMessage,
  serializeMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE as mostBuffered,
  type Transport,
} from '@modelcontextprotocol/server'
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import { limits } from '../core/limits/limits.ts'
import { Connection, type ConnectionParts } from './connection.ts'
import type { LocalHost } from './local.ts'
import { withoutNulls } from './message.ts'
import { onceHere } from './stateless/once.ts'
import { createMcpServer } from './server.ts'

export interface StdioParts extends Pick<ConnectionParts, 'transport' | 'manifest' | 'options'> {
  readonly local: LocalHost
  /** Whether the engine is a server, to which the connection can be lost. */
  readonly isServer: boolean
}

/** Returns when standard input has ended, or the process is asked to stop; the client's sessions are closed then. */
export async function serveStdio({ isServer, ...parts }: StdioParts): Promise<void> {
  const { local, transport: engine } = parts
  const warn = (message: string) => local.note(`bax mcp: ${message}`)
  const connection = new Connection({
    ...parts,
    graceSecs: isServer ? limits.lease.graceSecs : 0,
    once: onceHere(),
    warn,
  })
  const transport = new StreamTransport(local)
  const onerror = (error: Error) => warn(error.message)
  const createServer = ({ era }: McpRequestContext) => {
    const server = createMcpServer(connection, era)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    server.onerror = onerror
    return server
  }
  const served = serve(createServer, { transport, onerror })
  try {
    await transport.ended
  } finally {
    await served.close()
    await connection.close()
    await engine.close()
  }
}

/** Messages in lines. Nothing else may be written to standard output. */
class StreamTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #local: LocalHost
  #end = () => {}
  /** Resolves when no further message can arrive. */
  readonly ended = new Promise<void>((resolve) => (this.#end = resolve))

  constructor(local: LocalHost) {
    this.#local = local
  }

  async start(): Promise<void> {
    this.#local.signal.addEventListener('abort', this.#end, { once: true })
    if (this.#local.signal.aborted) this.#end()
    void this.#read().finally(this.#end)
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of this.#local.stdin) {
        const lines = (rest + decoder.decode(Buffer.from(chunk), { stream: true })).split('\n')
        rest = lines.pop()!
        if (rest.length > mostBuffered) throw new Error(`a message has more than ${mostBuffered} characters`)
        for (const line of lines) this.#deliver(line)
      }
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #deliver(line: string): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(withoutNulls(JSON.parse(line))))
    } catch (error) {
      // The line is not a message; the next one may be.
      this.onerror?.(error as Error)
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve) => {
      const { stdout } = this.#local
      // A client that is gone closes standard input, too.
      stdout.write(serializeMessage(message), () => resolve())
      // Only streams call back.
      if (!stdout.on) resolve()
    })
  }

  async close(): Promise<void> {
    this.#end()
    this.onclose?.()
  }
}
