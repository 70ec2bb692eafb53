/** Messages of an HTTP connection, kept so that a client can resume a stream that was cut. */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

interface Stored {
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly bytes: number
}

/** Keeps the newest messages within the limits. IDs count from 1. */
export class MessageStore implements EventStore {
  readonly #messages = new Map<number, Stored>()
  #last = 0
  #bytes = 0

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const bytes = JSON.stringify(message).length
    this.#last += 1
    this.#messages.set(this.#last, { stream, message, bytes })
    this.#bytes += bytes
    for (const [id, oldest] of this.#messages) {
      if (this.#messages.size <= limits.mcp.resumable && this.#bytes <= limits.mcp.resumableBytes) break
      if (id === this.#last) break
      this.#messages.delete(id)
      this.#bytes -= oldest.bytes
    }
    return String(this.#last)
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const after = this.#messages.get(Number(id))
    if (!after) throw new BaxError('invalid_request', `the message ${JSON.stringify(id)} is no longer stored`)
    for (const [number, { stream, message }] of this.#messages) {
      // An empty message only told the client where it can resume.
      if (number > Number(id) && stream === after.stream && 'jsonrpc' in message) await send(String(number), message)
    }
    return after.stream
  }
}
