/** Handling of uncaught errors in a process that serves many callers. */
import type { Log } from '../../core/config/config.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { currentErrorHandler, type ProcessErrors } from '../../core/process/unhandled-errors.ts'

export interface UncaughtErrorHandlers {
  /** Aborted when the process has to exit, with a BaxError as the reason. */
  readonly crashed: AbortSignal
  stop(): void
}

/**
 * Installs the handlers. Unhandled rejections are logged and reported to the code that caused them; the process continues.
 * An uncaught exception may leave shared state inconsistent, so the process shuts down, by force after a time limit.
 */
export function handleUncaughtErrors(faults: ProcessErrors | undefined, log: Log): UncaughtErrorHandlers {
  const crashed = new AbortController()
  const report = limitedReporter(log)
  const stopRejections = faults?.onStray((error) => {
    const owner = currentErrorHandler()
    report(owner ? 'unhandled rejection caused by a remote browser' : 'unhandled rejection', error)
    owner?.(error)
  })
  const stopExceptions = faults?.onCrash((error) => {
    report('uncaught exception: the process exits', error)
    if (crashed.signal.aborted) return
    crashed.abort(new BaxError('internal_error', 'uncaught exception; see the log for details', { cause: error }))
    setTimeout(() => faults.exit(exits.internal), limits.faults.endMs).unref()
  })
  return {
    crashed: crashed.signal,
    stop() {
      stopRejections?.()
      stopExceptions?.()
    },
  }
}

/** Returns a function that logs errors with their stacks, limited per minute so that a caller cannot fill the log. */
function limitedReporter(log: Log): (message: string, error: unknown) => void {
  let minute = 0
  let count = 0
  return (message, error) => {
    const now = Math.floor(performance.now() / 60_000)
    if (now !== minute) [minute, count] = [now, 0]
    count += 1
    if (count > limits.faults.linesPerMin) return
    const rest =
      count === limits.faults.linesPerMin ? { hint: 'further occurrences in this minute are suppressed' } : {}
    log('error', message, { cause: stackOf(error), ...rest })
  }
}

/** Returns the stack of an error, for the log. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

/** Resolves with the reason as text when the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(String(signal.reason))
    signal.addEventListener('abort', () => resolve(String(signal.reason)), { once: true })
  })
