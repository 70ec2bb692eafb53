/** Faults that nobody caught, in a process that many callers share. */
import type { Log } from '../../core/config/config.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { culpritOfStray, type ProcessFaults } from '../../core/process/orphans.ts'

export interface LastResort {
  /** Aborted when the process has to end, with the reason as a BaxError. */
  readonly crashed: AbortSignal
  /** The process is on its own again. */
  stop(): void
}

/**
 * A promise that failed with nobody waiting has left nothing half done that others rely on: it is told to whoever answers for
 * it, and to the log. An error that broke out of everything may have: the process ends in order, and at last in any way.
 */
export function openLastResort(faults: ProcessFaults | undefined, log: Log): LastResort {
  const crashed = new AbortController()
  const tell = fewOf(log)
  const stopStray = faults?.onStray((error) => {
    const culprit = culpritOfStray()
    tell(culprit ? 'a browser of somebody else made its handling fail' : 'a failure that nobody waited for', error)
    culprit?.(error)
  })
  const stopCrash = faults?.onCrash((error) => {
    tell('an error that nobody caught: the process ends', error)
    if (crashed.signal.aborted) return
    crashed.abort(
      new BaxError('internal_error', 'an error that nobody caught; the log has the details', { cause: error }),
    )
    setTimeout(() => faults.exit(exits.internal), limits.faults.endMs).unref()
  })
  return {
    crashed: crashed.signal,
    stop() {
      stopStray?.()
      stopCrash?.()
    },
  }
}

/** Tells of a fault with its stack; a stranger who makes many does not fill the log. */
function fewOf(log: Log): (message: string, error: unknown) => void {
  let minute = 0
  let told = 0
  return (message, error) => {
    const now = Math.floor(performance.now() / 60_000)
    if (now !== minute) [minute, told] = [now, 0]
    told += 1
    if (told > limits.faults.linesPerMin) return
    const rest = told === limits.faults.linesPerMin ? { hint: 'more of them in this minute are not told' } : {}
    log('error', message, { cause: error instanceof Error ? (error.stack ?? error.message) : String(error), ...rest })
  }
}
