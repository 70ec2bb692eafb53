/** Sees to it that a call on a container that cannot answer any more ends: paused, or cut off without a word. */
import type { AgentChannel } from '../agent/channel.ts'

/** An agent that is silent for so long while it is asked something is pinged; when that has no answer either, Docker is asked. */
const silenceMs = 1000

export class Pulse {
  readonly #channel: AgentChannel
  readonly #look: () => Promise<void>
  readonly #timer: NodeJS.Timeout
  #pinged = false

  constructor(channel: AgentChannel, look: () => Promise<void>) {
    this.#channel = channel
    this.#look = look
    this.#timer = setInterval(() => this.#beat(), silenceMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #beat(): void {
    const { busy, heardAt } = this.#channel
    if (!busy || performance.now() - heardAt < silenceMs) return
    // A machine under load is slow as well, so that only Docker's word ends it. No word now, then at the next beat.
    if (this.#pinged) void this.#look().catch(() => {})
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
