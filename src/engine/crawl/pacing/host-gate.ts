/** Politeness towards one host: how many requests at a time, how far apart, and when it asked to be left alone. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'

const { busyMs, busyPatienceMs, busyRefusals, downPatienceMs, retryMs } = limits.crawl

/** Refusals in a row that may be those of single pages. */
const fewRefusals = 3

/** `busy`: it answers that it wants fewer requests; `down`: it does not answer. */
export type Refusal = 'busy' | 'down'

export class HostGate {
  readonly #most: number
  #allowed: number
  #delayMs = 0
  #active = 0
  /** `performance.now()` before which it is left alone, and before which the next request is too close to the last. */
  #restUntil = 0
  #spacedUntil = 0
  readonly #waiting: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  /** Refusals in a row, and the pauses made for them. */
  #refusals = 0
  #pausedMs = 0
  #closed = false

  /** `most` requests at the same time. */
  constructor(most: number) {
    this.#most = most
    this.#allowed = most
  }

  /** From now on requests are one at a time and so far apart. */
  spaceOut(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /**
   * Waits for the turn; the result gives the place back.
   * @throws the signal's reason; BaxError `rate_limited` when the host wants no more requests
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        if (this.#waiting.length === 0) clearTimeout(this.#timer)
        reject(signal.reason as Error)
      }
      const settle = (go: () => void) => {
        signal.removeEventListener('abort', leave)
        go()
      }
      const waiter: Waiter = { go: () => settle(resolve), refuse: (error) => settle(() => reject(error)) }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiter)
      this.#admit()
    })
    let inside = true
    return () => {
      if (inside) this.#active--
      inside = false
      this.#admit()
    }
  }

  /** A request was refused; whether it makes sense to wait for a further turn, after `afterMs` where the host says so. */
  refused(refusal: Refusal, afterMs?: number): boolean {
    if (this.#closed) return false
    // Requests that were on their way together are refused together.
    if (performance.now() < this.#restUntil) return true
    const [first, patience] = refusal === 'busy' ? [busyMs, busyPatienceMs] : [retryMs, downPatienceMs]
    const pauseMs = afterMs ?? first * 2 ** this.#refusals
    this.#refusals++
    if (this.#refusals > busyRefusals || this.#pausedMs + pauseMs > patience) {
      // One page may be refused for good and the others not.
      if (refusal === 'busy' && this.#refusals > fewRefusals) this.#close()
      return false
    }
    this.#pausedMs += pauseMs
    this.#restUntil = performance.now() + pauseMs
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2))
    return true
  }

  /** A request went well. */
  eased(): void {
    this.#refusals = 0
    this.#pausedMs = 0
    this.#allowed = Math.min(this.#most, this.#allowed + 1)
  }

  get isIdle(): boolean {
    return this.#active === 0 && this.#waiting.length === 0 && this.#refusals === 0
  }

  /** It has been asked often enough. */
  #close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const { refuse } of this.#waiting.splice(0)) refuse(tooBusy())
  }

  #admit(): void {
    if (this.#closed) return this.#close()
    const most = this.#delayMs > 0 ? 1 : this.#allowed
    while (this.#waiting.length > 0 && this.#active < most) {
      const wait = Math.max(this.#restUntil, this.#spacedUntil) - performance.now()
      if (wait > 0) {
        this.#later(wait)
        return
      }
      if (this.#delayMs > 0) this.#spacedUntil = performance.now() + this.#delayMs
      this.#active++
      this.#waiting.shift()!.go()
    }
  }

  #later(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#admit(), ms)
  }
}

interface Waiter {
  readonly go: () => void
  readonly refuse: (error: Error) => void
}

const tooBusy = (): BaxError =>
  new BaxError('rate_limited', 'the site wants fewer requests, and was not asked any more', {
    details: { status_code: 429 },
  })

/** Hosts whose gates are kept; those of idle ones are made anew. */
const mostGates = 5000

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/

/** The gates of all hosts of a crawl. */
export class HostGates {
  readonly #gates = new Map<string, HostGate>()

  /** Nobody is bothered by what a machine asks itself. */
  of({ host, hostname }: URL): HostGate {
    let gate = this.#gates.get(host)
    if (!gate) {
      this.#makeRoom()
      gate = new HostGate(loopback.test(hostname) ? limits.crawl.mostAtOnce : limits.crawl.perHost)
      this.#gates.set(host, gate)
    }
    return gate
  }

  #makeRoom(): void {
    if (this.#gates.size < mostGates) return
    for (const [host, gate] of this.#gates) if (gate.isIdle) this.#gates.delete(host)
  }
}
