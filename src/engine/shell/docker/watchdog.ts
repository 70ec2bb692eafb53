/** Detects containers that can no longer respond, so that pending calls fail: paused, or cut off silently. */
import type { AgentChannel } from '../agent/channel.ts'

/** Silence during a call, in milliseconds, after which the agent is pinged and then Docker is asked. */
const silenceMs = 1000

export class Watchdog {
  readonly #channel: AgentChannel
  readonly #inspect: () => Promise<void>
  readonly #timer: NodeJS.Timeout
  #pinged = false

  constructor(channel: AgentChannel, inspect: () => Promise<void>) {
    this.#channel = channel
    this.#inspect = inspect
    this.#timer = setInterval(() => this.#check(), silenceMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const { busy, receivedAt } = this.#channel
    if (!busy || performance.now() - receivedAt < silenceMs) return
    // A loaded machine is slow, too: only the state reported by Docker counts. Without it, the next check retries.
    if (this.#pinged) void this.#inspect().catch(() => {})
    else this.#ping()
  }

  #ping(): void {
    this.#pinged = true
    // It fails only with the session, which reports that itself.
    void this.#channel
      .ping()
      .catch(() => {})
      .finally(() => (this.#pinged = false))
  }
}
