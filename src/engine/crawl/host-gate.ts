/** Politeness towards one host: how many requests at a time, how far apart, and when it asked to be left alone. */
import { limits } from '../../core/limits.ts'

export class HostGate {
  /** Every page of late has failed: further ones get one try and no more. */
  failing = false
  readonly #most: number
  #allowed: number
  #delayMs = 0
  #active = 0
  #notBefore = 0
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined

  /** `most` requests at the same time. */
  constructor(most: number) {
    this.#most = most
    this.#allowed = most
  }

  /** From now on requests are one at a time and so far apart. */
  spaceOut(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Waits for the turn; the result gives the place back. @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(go)
        if (at >= 0) this.#waiting.splice(at, 1)
        if (this.#waiting.length === 0) clearTimeout(this.#timer)
        reject(signal.reason as Error)
      }
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(go)
      this.#admit()
    })
    let inside = true
    return () => {
      if (inside) this.#active--
      inside = false
      this.#admit()
    }
  }

  /** The host wants to be left alone for so long, and to see fewer of us afterwards. */
  rest(forMs: number): void {
    this.#notBefore = Math.max(this.#notBefore, performance.now() + forMs)
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2))
  }

  /** A request went well. */
  eased(): void {
    this.failing = false
    this.#allowed = Math.min(this.#most, this.#allowed + 1)
  }

  #admit(): void {
    const most = this.#delayMs > 0 ? 1 : this.#allowed
    while (this.#waiting.length > 0 && this.#active < most) {
      const wait = this.#notBefore - performance.now()
      if (wait > 0) {
        this.#later(wait)
        return
      }
      if (this.#delayMs > 0) this.#notBefore = performance.now() + this.#delayMs
      this.#active++
      this.#waiting.shift()!()
    }
  }

  #later(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#admit(), ms)
  }
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)$/

/** The gates of all hosts of a crawl. */
export class HostGates {
  readonly #gates = new Map<string, HostGate>()

  /** Nobody is bothered by what a machine asks itself. */
  of({ host, hostname }: URL): HostGate {
    let gate = this.#gates.get(host)
    if (!gate) {
      gate = new HostGate(loopback.test(hostname) ? limits.crawl.mostAtOnce : limits.crawl.perHost)
      this.#gates.set(host, gate)
    }
    return gate
  }
}
