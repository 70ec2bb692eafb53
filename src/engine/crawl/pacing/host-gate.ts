/** Politeness per host: concurrent requests, delay between them, and pauses after rejections. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'

const { busyMs, busyPatienceMs, busyRefusals, downPatienceMs, retryMs } = limits.crawl

/** Consecutive rejections that can be due to single pages. */
const pageRefusals = 3

/** `busy`: the host rate-limits requests; `down`: it does not respond. */
export type Refusal = 'busy' | 'down'

/** Limits of a host. */
export interface HostLimits {
  readonly host: string
  /** Maximum number of concurrent requests. */
  readonly most: number
  /** Minimum delay between two requests, which are then sent one at a time; 0 for none. */
  readonly delayMs: number
}

/** Slots of hosts that several crawls share. */
export interface SharedHosts {
  /** Waits for a slot; returns its release, which may be called repeatedly. @throws the signal's reason */
  enter(limits: HostLimits, signal: AbortSignal): Promise<() => void>
}

export class HostGate implements HostLimits {
  readonly host: string
  readonly #max: number
  #allowed: number
  #delayMs = 0
  #active = 0
  /** Times (`performance.now()`) until which requests pause, and until which the next one would be too early. */
  #pausedUntil = 0
  #spacedUntil = 0
  readonly #waiting: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  #refusals = 0
  #pausedMs = 0
  #closed = false

  constructor(max: number, host = '') {
    this.host = host
    this.#max = max
    this.#allowed = max
  }

  get most(): number {
    return this.#max
  }

  get delayMs(): number {
    return this.#delayMs
  }

  /** Sets the delay between requests, which are then sent one at a time; 0 for no delay. */
  setDelay(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Waits for a slot; returns its release. @throws the signal's reason, `rate_limited` after too many rejections */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        if (this.#waiting.length === 0) clearTimeout(this.#timer)
        reject(signal.reason as Error)
      }
      const finish = (go: () => void) => {
        signal.removeEventListener('abort', abort)
        go()
      }
      const waiter: Waiter = { go: () => finish(resolve), refuse: (error) => finish(() => reject(error)) }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.push(waiter)
      this.#admit()
    })
    let isActive = true
    return () => {
      if (isActive) this.#active--
      isActive = false
      this.#admit()
    }
  }

  /** Records a rejected request; `afterMs` is the time from Retry-After. Returns whether a retry makes sense. */
  refused(refusal: Refusal, afterMs?: number): boolean {
    if (this.#closed) return false
    // Concurrent requests that were rejected together count once.
    if (performance.now() < this.#pausedUntil) return true
    const [first, patience] = refusal === 'busy' ? [busyMs, busyPatienceMs] : [retryMs, downPatienceMs]
    const pauseMs = afterMs ?? first * 2 ** this.#refusals
    this.#refusals++
    if (this.#refusals > busyRefusals || this.#pausedMs + pauseMs > patience) {
      // A few rejections can be due to a single page.
      if (refusal === 'busy' && this.#refusals > pageRefusals) this.#close()
      return false
    }
    this.#pausedMs += pauseMs
    this.#pausedUntil = performance.now() + pauseMs
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2))
    return true
  }

  succeeded(): void {
    this.#refusals = 0
    this.#pausedMs = 0
    this.#allowed = Math.min(this.#max, this.#allowed + 1)
  }

  get isIdle(): boolean {
    return this.#active === 0 && this.#waiting.length === 0 && this.#refusals === 0
  }

  #close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    const message = 'the site keeps rejecting requests; no further ones were sent'
    const error = new BaxError('rate_limited', message, { details: { status_code: 429 } })
    for (const { refuse } of this.#waiting.splice(0)) refuse(error)
  }

  #admit(): void {
    if (this.#closed) return this.#close()
    const max = this.#delayMs > 0 ? 1 : this.#allowed
    while (this.#waiting.length > 0 && this.#active < max) {
      const wait = Math.max(this.#pausedUntil, this.#spacedUntil) - performance.now()
      if (wait > 0) {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.#admit(), wait)
        return
      }
      if (this.#delayMs > 0) this.#spacedUntil = performance.now() + this.#delayMs
      this.#active++
      this.#waiting.shift()?.go()
    }
  }
}

interface Waiter {
  readonly go: () => void
  readonly refuse: (error: Error) => void
}

/** Maximum number of gates; those of idle hosts are dropped. */
const maxGates = 5000

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/

export class HostGates {
  readonly #gates = new Map<string, HostGate>()

  /** Returns the gate of a URL's host. Loopback hosts need no politeness. */
  of({ host, hostname }: URL): HostGate {
    let gate = this.#gates.get(host)
    if (!gate) {
      if (this.#gates.size >= maxGates)
        for (const [name, other] of this.#gates) if (other.isIdle) this.#gates.delete(name)
      gate = new HostGate(loopback.test(hostname) ? limits.crawl.mostAtOnce : limits.crawl.perHost, host)
      this.#gates.set(host, gate)
    }
    return gate
  }
}
