/**
 * Messages of other gateways and workers. Some may be lost with the connection, so nothing relies on them alone: after
 * every reconnect, all listeners are called without a message.
 */
import type { Redis } from 'ioredis'

type Listener = (message: string | undefined) => void

export class Subscriptions {
  readonly #connection: Redis
  readonly #listeners = new Map<string, Set<Listener>>()

  /** A connection that subscribes cannot send other commands, so this opens one of its own. */
  constructor(redis: Redis) {
    this.#connection = redis.duplicate({ autoResubscribe: false })
    // The connection of the commands reports the same error.
    this.#connection.on('error', () => {})
    this.#connection.on('message', (channel: string, message: string) => this.#call(channel, message))
    // The first connection has nothing to restore: ioredis queues commands until it is ready.
    this.#connection.once('ready', () => this.#connection.on('ready', () => void this.#resubscribe()))
  }

  /** Calls `listener` with every message on a channel, once this has resolved; returns a function that stops it. */
  async listen(channel: string, listener: Listener): Promise<() => void> {
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    // Subscribing again does nothing, and waits for the first subscription.
    await this.#connection.subscribe(channel)
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return
      this.#listeners.delete(channel)
      // Fails when the connection is closed, which ends the subscription too.
      this.#connection.unsubscribe(channel).catch(() => {})
    }
  }

  close(): void {
    this.#connection.disconnect()
  }

  /** The option of ioredis does the same, but a connection that is closed meanwhile rejects a promise that nobody has. */
  async #resubscribe(): Promise<void> {
    const channels = [...this.#listeners.keys()]
    if (channels.length === 0) return
    try {
      await this.#connection.subscribe(...channels)
    } catch {
      // Closed: there is nobody to notify. Lost again: the next connection does this.
      return
    }
    for (const channel of channels) this.#call(channel, undefined)
  }

  #call(channel: string, message: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(message)
  }
}
