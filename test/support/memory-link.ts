/** In-process link for tunnels of tests. */
import type { Link, LinkHandlers } from '../../src/core/net/link.ts'

/** Creates both ends of a link. Messages arrive in a later task, in order, as over a network. */
export function memoryLink(): [Link, Link] {
  const one = new End()
  const other = new End()
  one.peer = other
  other.peer = one
  return [one, other]
}

class End implements Link {
  buffered = 0
  peer!: End
  #handlers: LinkHandlers | undefined
  #pending: ((handlers: LinkHandlers) => void)[] = []
  #closed = false

  handle(handlers: LinkHandlers): void {
    this.#handlers = handlers
    for (const event of this.#pending.splice(0)) event(handlers)
  }

  sendText(text: string | Buffer): void {
    if (!this.#closed) this.peer.receive((handlers) => handlers.onText(text.toString()))
  }

  sendBytes(bytes: Uint8Array, onSent: () => void): void {
    if (this.#closed) return
    this.buffered += bytes.length
    this.peer.receive((handlers) => handlers.onBytes(bytes))
    setImmediate(() => {
      this.buffered -= bytes.length
      onSent()
    })
  }

  close(code: number, reason: string): void {
    if (this.#closed) return
    this.peer.receive((handlers) => this.peer.end(handlers, code, reason))
    setImmediate(() => this.#handlers && this.end(this.#handlers, code, reason))
  }

  drop(): void {
    this.close(1006, '')
  }

  receive(event: (handlers: LinkHandlers) => void): void {
    setImmediate(() => {
      if (this.#closed) return
      if (this.#handlers) event(this.#handlers)
      else this.#pending.push(event)
    })
  }

  end(handlers: LinkHandlers, code: number, reason: string): void {
    if (this.#closed) return
    this.#closed = true
    handlers.onClose(code, reason)
  }
}
