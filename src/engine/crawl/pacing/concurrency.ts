/** The number of pages loaded at the same time, which adapts to the load of the machine, and the resulting rate. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { renderedAtOnce } from '../../render/browser/concurrency.ts'

export interface Concurrency {
  readonly atOnce: number
  close(): void
}

/** Enough to keep a browser busy while other pages are converted. */
const initial = renderedAtOnce + 4
const min = 4
const max = 32
const intervalMs = 500
/** Event loop delay of an overloaded engine, and of one with spare capacity, in milliseconds. */
const overloadedMs = 120
const relaxedMs = 40

export const fixedConcurrency = (atOnce: number): Concurrency => ({ atOnce, close: () => {} })

/** Adapts to the load of the machine; calls `onChange` when the number grows. */
export function adaptiveConcurrency(onChange: () => void): Concurrency {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let atOnce = initial
  const timer = setInterval(() => {
    const before = atOnce
    atOnce = nextConcurrency(atOnce, {
      lagMs: delay.mean / 1e6 - 10,
      load: loadavg()[0]! / availableParallelism(),
      free: freemem() / totalmem(),
    })
    delay.reset()
    if (atOnce > before) onChange()
  }, intervalMs)
  timer.unref()
  return {
    get atOnce() {
      return atOnce
    },
    close: () => {
      clearInterval(timer)
      delay.disable()
    },
  }
}

/** Decreases by a quarter, or increases by one, given the event loop delay, load per CPU and share of free memory. */
export function nextConcurrency(atOnce: number, { lagMs, load, free }: Record<'lagMs' | 'load' | 'free', number>) {
  if (lagMs > overloadedMs || free < 0.05) return Math.max(min, Math.floor(atOnce * 0.75))
  if (lagMs > relaxedMs || load > 3 || free < 0.1) return atOnce
  return Math.min(max, atOnce + 1)
}

const windowMs = 10_000

export class Speed {
  readonly #start = performance.now()
  #times: number[] = []

  count(): void {
    this.#times.push(performance.now())
    if (this.#times.length > 1000) this.#drop()
  }

  /** Returns the pages per second over the last ten seconds, or since the start. */
  perSecond(): number {
    this.#drop()
    const secs = Math.min(windowMs, performance.now() - this.#start) / 1000
    return secs > 0 ? Math.round((this.#times.length / secs) * 10) / 10 : 0
  }

  #drop(): void {
    const from = performance.now() - windowMs
    const at = this.#times.findIndex((time) => time >= from)
    this.#times = at < 0 ? [] : this.#times.slice(at)
  }
}
