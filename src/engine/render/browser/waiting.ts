/** Waiting for a page that reports events: until something holds, until the page fails, until the time is up. */
import type { BaxError } from '../../../core/errors/errors.ts'

export class Waiting {
  readonly #looks = new Set<() => void>()
  #failure: BaxError | undefined

  /** Has everybody who waits look again. */
  wake(): void {
    for (const look of this.#looks) look()
  }

  /** Ends all waiting, now and later, with this error. */
  fail(error: BaxError): void {
    this.#failure ??= error
    this.wake()
  }

  /** Waits until something holds; false after `ms`. */
  until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<boolean> {
    if (holds()) return this.guard(Promise.resolve(true), signal)
    let look!: () => void
    let timer: NodeJS.Timeout | undefined
    const met = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.max(0, ms))
      look = () => holds() && resolve(true)
    })
    this.#looks.add(look)
    return this.guard(met, signal).finally(() => {
      clearTimeout(timer)
      this.#looks.delete(look)
    })
  }

  /** Whether work ends within a time, well or badly. */
  async ends(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
    let done = false
    const end = () => {
      done = true
      this.wake()
    }
    work.then(end, end)
    await this.until(() => done, ms, signal)
    return done
  }

  /** The result of `work`, unless the page fails or the signal comes first. */
  async guard<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    let look!: () => void
    let abort!: () => void
    const ended = new Promise<never>((_, reject) => {
      look = () => this.#failure && reject(this.#failure)
      abort = () => reject(signal.reason as Error)
    })
    this.#looks.add(look)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    look()
    try {
      return await Promise.race([ended, work])
    } catch (error) {
      throw this.#failure ?? error
    } finally {
      this.#looks.delete(look)
      signal.removeEventListener('abort', abort)
    }
  }
}
