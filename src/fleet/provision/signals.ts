/** Messages of provisions over the publish/subscribe channel of Redis. They only shorten waiting: everything also polls. */
import type { Redis } from 'ioredis'

export type ProvisionMessage = 'waiting' | `ended ${string}`

export class ProvisionSignals {
  readonly #connection: Redis
  readonly #listeners = new Set<(message: ProvisionMessage) => void>()
  readonly #channel: string

  constructor(redis: Redis, channel: string) {
    this.#channel = channel
    this.#connection = redis.duplicate()
    // The main connection logs that Redis is away.
    this.#connection.on('error', () => {})
    this.#connection.on('message', (_channel: string, message: ProvisionMessage) => {
      for (const listener of this.#listeners) listener(message)
    })
  }

  async open(): Promise<void> {
    await this.#connection.subscribe(this.#channel)
  }

  /** Calls the listener with each message until the returned function is called. */
  listen(listener: (message: ProvisionMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Resolves after `ms`, or earlier with a matching message. @throws the reason of the signal */
  next(ms: number, matches: (message: ProvisionMessage) => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer)
        stop()
        signal?.removeEventListener('abort', onAbort)
        settle()
      }
      const onAbort = () => end(() => reject(signal?.reason))
      const timer = setTimeout(() => end(resolve), ms)
      const stop = this.listen((message) => matches(message) && end(resolve))
      signal?.addEventListener('abort', onAbort, { once: true })
      if (signal?.aborted) onAbort()
    })
  }

  close(): void {
    this.#connection.disconnect()
  }
}
