/** Commands of one session: the running ones, and the last ones that have ended. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RunningExec } from './running-exec.ts'

export interface StartedExec {
  readonly exec: RunningExec
  /** Resolves when it has ended; rejects when the container is lost. */
  readonly ended: Promise<void>
}

export class ExecRegistry {
  readonly #entries = new Map<string, StartedExec>()
  /** Number of commands being started; their slots are reserved. */
  #starting = 0
  /** Number of commands so far. */
  count = 0

  /** Reserves a slot for a command about to start. @throws BaxError `too_many_execs`. */
  reserve(): () => void {
    if (this.running().length + this.#starting >= limits.exec.perSession) {
      throw new BaxError('too_many_execs', `the session already runs ${limits.exec.perSession} commands`, {
        hint: 'wait for one to end, or create another session',
      })
    }
    this.#starting += 1
    return () => void (this.#starting -= 1)
  }

  /** @param keep Whether the record stays available after the end; otherwise the caller has received the result. */
  add({ exec, ended }: StartedExec, keep: boolean): void {
    const { id } = exec.identity
    this.count += 1
    // Failures are reported by `ended` itself.
    const over = ended.catch(() => {})
    this.#entries.set(id, { exec, ended: over })
    void over.then(() => {
      if (keep) this.#trim(limits.exec.keptBytes)
      else this.#entries.delete(id)
    })
  }

  get(id: string): RunningExec | undefined {
    return this.#entries.get(id)?.exec
  }

  /** Returns the running commands; `ended` never rejects. */
  running(): StartedExec[] {
    return [...this.#entries.values()].filter(({ exec }) => exec.isRunning)
  }

  /** Drops most outputs: the session has ended. */
  shrink(): void {
    this.#trim(limits.exec.bufferedBytes)
  }

  #trim(maxBytes: number): void {
    const ended = [...this.#entries.values()].filter(({ exec }) => !exec.isRunning)
    let bytes = ended.reduce((sum, { exec }) => sum + exec.bytes, 0)
    let count = ended.length
    // Keep the last one, whatever its size: it will probably be requested.
    for (const { exec } of ended.slice(0, -1)) {
      if (bytes <= maxBytes && count <= limits.exec.kept) return
      this.#entries.delete(exec.identity.id)
      bytes -= exec.bytes
      count -= 1
    }
  }
}
