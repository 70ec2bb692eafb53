/** Work that goes on once Redis has room again. */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../../core/limits/limits.ts'

export interface Patience {
  readonly signal: AbortSignal
  /** Called once, when Redis refuses the command for the first time. */
  readonly onFull: () => void
}

/** Errors of a Redis that has reached its memory limit, or cannot write to its disk. */
const full = /^(?:OOM|MISCONF) /

/** Repeats a command while Redis refuses to write. @throws the signal's reason */
export async function unlessFull<T>(run: () => Promise<T>, { signal, onFull }: Patience): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!full.test((error as Error).message)) throw error
      if (tries === 0) onFull()
      await pause(limits.crawl.fleet.fullMs, undefined, { signal })
      signal.throwIfAborted()
    }
  }
}
