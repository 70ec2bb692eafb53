/** Processes of browsers, with the processors and the memory that they use; only on Linux. */
import { readdirSync, readFileSync } from 'node:fs'
import { limits } from '../../../core/limits/limits.ts'
import { processStat, ticksPerSec } from '../../../core/process/process-facts.ts'

/** Resources that a process has used since the last measurement. */
export interface ProcessUse {
  readonly pid: number
  /** PID of the leader of its session, which identifies its browser. */
  readonly session: number
  /** Average number of processors. */
  readonly cores: number
  readonly residentBytes: number
}

/** Use of the processors since the last measurement. */
export interface Measurement {
  readonly uses: readonly ProcessUse[]
  /** Average number of processors of the machine that nothing used, or only processes of low priority. */
  readonly spareCores: number
}

interface Known {
  readonly startTime: string
  readonly cpuSecs: number
}

export class ProcessTable {
  readonly #known = new Map<number, Known>()
  /** IDs of processes that belong to no browser. */
  readonly #foreign = new Set<number>()
  #measurements = 0
  #at = performance.now()
  #spareSecs = spareSecs()

  /** Measures the processes of sessions. */
  measure(sessions: ReadonlySet<number>): Measurement {
    if (this.#measurements++ % limits.browserShares.relistEvery === 0) this.#foreign.clear()
    const secs = (performance.now() - this.#at) / 1000
    this.#at = performance.now()
    const spareBefore = this.#spareSecs
    this.#spareSecs = spareSecs()
    const pids = readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && !this.#foreign.has(pid))
    const found = new Set<number>()
    const uses: ProcessUse[] = []
    for (const pid of pids) {
      const stat = processStat(pid)
      if (!stat) continue
      const { session, startTime, cpuSecs, residentBytes } = stat
      if (!sessions.has(session)) {
        this.#foreign.add(pid)
        continue
      }
      found.add(pid)
      const before = this.#known.get(pid)
      const used = before?.startTime === startTime ? cpuSecs - before.cpuSecs : cpuSecs
      this.#known.set(pid, { startTime, cpuSecs })
      uses.push({ pid, session, cores: used / secs, residentBytes })
    }
    for (const pid of this.#known.keys()) if (!found.has(pid)) this.#known.delete(pid)
    return { uses, spareCores: (this.#spareSecs - spareBefore) / secs }
  }
}

/** Returns the time for which the processors of the machine were idle or ran processes of low priority, all together. */
function spareSecs(): number {
  const [, , low, , idle, waiting] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 6)
  return (Number(low) + Number(idle) + Number(waiting)) / ticksPerSec
}
