/** FIFO queue that runs one batch at a time and limits the number of waiting ones. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'

export class CommandQueue {
  readonly #waiting: (() => void)[] = []
  #busy = false

  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `work` after earlier work. @throws BaxError `rate_limited` when the queue is full; the reason of `signal`. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#busy) await this.#wait(signal)
    this.#busy = true
    try {
      return await work()
    } finally {
      this.#busy = false
      this.#waiting.shift()?.()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= limits.command.queue) {
      throw new BaxError('rate_limited', `${limits.command.queue} batches already wait for this session`, {
        hint: 'wait for their results, or use another session',
      })
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', quit)
        // Set at once, so that no other caller can start before this one resumes.
        this.#busy = true
        resolve()
      }
      const quit = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', quit, { once: true })
      this.#waiting.push(go)
    })
  }
}
