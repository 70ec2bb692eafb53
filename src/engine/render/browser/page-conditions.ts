/** Waits for conditions on a page: until one is met, the page fails, or the time is up. */
import type { BaxError } from '../../../core/errors/errors.ts'

export class PageConditions {
  readonly #checks = new Set<() => void>()
  #failure: BaxError | undefined

  /** Checks all conditions again. */
  wake(): void {
    for (const check of this.#checks) check()
  }

  /** Rejects all current and later waits with this error. */
  fail(error: BaxError): void {
    this.#failure ??= error
    this.wake()
  }

  /** Waits until a condition is met; resolves with false after `ms` milliseconds. */
  until(isMet: () => boolean, ms: number, signal: AbortSignal): Promise<boolean> {
    if (isMet()) return this.guard(Promise.resolve(true), signal)
    let check!: () => void
    let timer: NodeJS.Timeout | undefined
    const met = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.max(0, ms))
      check = () => isMet() && resolve(true)
    })
    this.#checks.add(check)
    return this.guard(met, signal).finally(() => {
      clearTimeout(timer)
      this.#checks.delete(check)
    })
  }

  /** Resolves with whether work settles within `ms` milliseconds. */
  async settlesWithin(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
    let done = false
    const end = () => {
      done = true
      this.wake()
    }
    work.then(end, end)
    await this.until(() => done, ms, signal)
    return done
  }

  /** Resolves with the result of `work`, unless the page fails or the signal is aborted first. */
  async guard<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    let check!: () => void
    let abort!: () => void
    const ended = new Promise<never>((_, reject) => {
      check = () => this.#failure && reject(this.#failure)
      abort = () => reject(signal.reason as Error)
    })
    this.#checks.add(check)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    check()
    try {
      return await Promise.race([ended, work])
    } catch (error) {
      throw this.#failure ?? error
    } finally {
      this.#checks.delete(check)
      signal.removeEventListener('abort', abort)
    }
  }
}
