/** The commands of one session: those that run, and the last ones that have ended. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RunningExec } from './running-exec.ts'

interface Entry {
  readonly exec: RunningExec
  /** Resolves when it has ended, however it ended. */
  readonly ended: Promise<void>
}

export class KeptExecs {
  readonly #entries = new Map<string, Entry>()
  /** Commands that are being started: their places are taken. */
  #starting = 0
  /** Commands that were run in all. */
  count = 0

  /** Takes a place for a command that is about to start. @throws BaxError `too_many_execs`. */
  reserve(): () => void {
    if (this.running().length + this.#starting >= limits.exec.perSession) {
      throw new BaxError('too_many_execs', `${limits.exec.perSession} commands run in this session already`, {
        hint: 'wait for one to end, or make another session',
      })
    }
    this.#starting += 1
    return () => void (this.#starting -= 1)
  }

  /** `keep`: it can be asked about after its end; the others have told their caller all. */
  add(exec: RunningExec, ended: Promise<void>, keep: boolean): void {
    const { id } = exec.identity
    this.count += 1
    this.#entries.set(id, { exec, ended })
    void ended.then(() => {
      if (keep) this.#trim(limits.exec.keptBytes)
      else this.#entries.delete(id)
    })
  }

  get(id: string): RunningExec | undefined {
    return this.#entries.get(id)?.exec
  }

  running(): (Entry & { kill(): void })[] {
    return [...this.#entries.values()]
      .filter(({ exec }) => exec.isRunning)
      .map((entry) => ({ ...entry, kill: () => entry.exec.kill() }))
  }

  /** Lets go of most outputs: the session has ended. */
  shrink(): void {
    this.#trim(limits.exec.bufferedBytes)
  }

  #trim(mostBytes: number): void {
    const ended = [...this.#entries.values()].filter(({ exec }) => !exec.isRunning)
    let bytes = ended.reduce((sum, { exec }) => sum + exec.bytes, 0)
    let number = ended.length
    // The last one stays whatever its size: somebody will come for it.
    for (const { exec } of ended.slice(0, -1)) {
      if (bytes <= mostBytes && number <= limits.exec.kept) return
      this.#entries.delete(exec.identity.id)
      bytes -= exec.bytes
      number -= 1
    }
  }
}
