/** Serves one client over standard input and output, until the client or its host is gone. */
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Context } from '../cli/context.ts'
import { locateEngine } from '../cli/engine/locate-engine.ts'
import { type Io, note } from '../cli/io.ts'
import { limits } from '../core/limits/limits.ts'
import { Connection } from './connection.ts'
import type { McpOptions } from './options.ts'
import { createMcpServer } from './server.ts'

/** Returns when standard input has ended, or the process is asked to stop; the client's sessions are closed then. */
export async function serveStdio(context: Context, options: McpOptions): Promise<void> {
  const { io, manifest } = context
  const engine = locateEngine(context, { when: 'start' })
  const connection = new Connection({
    transport: engine.transport,
    manifest,
    options,
    local: context,
    // No connection to a local engine is lost while both processes live.
    graceSecs: engine.kind === 'server' ? limits.lease.graceSecs : 0,
    warn: (message) => note(io, `bax mcp: ${message}`),
  })
  const server = createMcpServer(connection)
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  server.onerror = (error) => note(io, `bax mcp: ${error.message}`)
  const transport = new StreamTransport(io)
  try {
    await server.connect(transport)
    await transport.ended
  } finally {
    await server.close()
    await connection.close()
    await engine.transport.close()
  }
}

/** Messages in lines. Nothing else may be written to standard output. */
class StreamTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #io: Io
  #end = () => {}
  /** Resolves when no further message can arrive. */
  readonly ended = new Promise<void>((resolve) => (this.#end = resolve))

  constructor(io: Io) {
    this.#io = io
  }

  async start(): Promise<void> {
    this.#io.signal.addEventListener('abort', this.#end, { once: true })
    if (this.#io.signal.aborted) this.#end()
    void this.#read().finally(this.#end)
  }

  async #read(): Promise<void> {
    const buffer = new ReadBuffer()
    try {
      for await (const chunk of this.#io.stdin) {
        buffer.append(Buffer.from(chunk as string))
        this.#deliver(buffer)
      }
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #deliver(buffer: ReadBuffer): void {
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // The line is not a message; the next one may be.
        this.onerror?.(error as Error)
      }
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve) => {
      const { stdout } = this.#io
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
