/** How many pages at the same time: more while the machine has room, fewer when it falls behind. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { renderedAtOnce } from '../../render/browser/at-once.ts'

export interface Pace {
  readonly atOnce: number
  close(): void
}

/** What keeps a browser at work, and pages that are being written meanwhile. */
const first = renderedAtOnce + 4
/** What a browser works on at the same time. */
const least = 4
const most = 32
const everyMs = 500
/** The engine comes to its work this late, in milliseconds, when it has too much of it; and when it has room. */
const late = 120
const soon = 40

/** The same number all the time. */
export const fixedPace = (atOnce: number): Pace => ({ atOnce, close: () => {} })

/** Looks at the machine now and then; `onChange` when there is room for more. */
export function adaptivePace(onChange: () => void): Pace {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let atOnce = first
  const timer = setInterval(() => {
    const before = atOnce
    atOnce = nextPace(atOnce, { lagMs: delay.mean / 1e6 - 10, load: loadavg()[0]! / availableParallelism(), free: freemem() / totalmem() }) // prettier-ignore
    delay.reset()
    if (atOnce > before) onChange()
  }, everyMs)
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

export interface MachineLoad {
  /** How late the event loop is, on average. */
  readonly lagMs: number
  /** Processes that want to run, per processor. */
  readonly load: number
  /** Share of the memory that is free. */
  readonly free: number
}

/** Down by a quarter at once, up by one at a time. */
export function nextPace(atOnce: number, { lagMs, load, free }: MachineLoad): number {
  if (lagMs > late || free < 0.05) return Math.max(least, Math.floor(atOnce * 0.75))
  if (lagMs > soon || load > 3 || free < 0.1) return atOnce
  return Math.min(most, atOnce + 1)
}
