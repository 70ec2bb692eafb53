/**
 * Shares of keys in the processors and the memory of this machine: busy processes of browsers whose key uses more than its
 * share get a low priority, and the largest process of a key that uses too much memory ends. Only on Linux, and only for
 * browsers that belong to a key.
 */
import { availableParallelism, totalmem } from 'node:os'
import type { EngineConfig } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { ownMemory, processStat } from '../../../core/process/process-facts.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { Measure } from './measuring.ts'
import { lowerPriority, restorePriority, setSessionPriority } from './priority.ts'
import type { ProcessUse } from './process-table.ts'

/** A browser that counts towards the share of its key. */
export interface Sharing {
  /** Whether processes keep a low priority because this user may not restore it. */
  readonly staysSlow: boolean
  /** Returns why one of its processes was ended just now because of its memory; undefined if none was. */
  memoryExcess(): string | undefined
  leave(): void
}

interface Browser {
  readonly owner: string
  endedAt: number
  staysSlow: boolean
}

interface Lowered {
  /** Number of consecutive measurements in which it was not busy. */
  calms: number
}

interface Pressure {
  /** Whether the key uses more than its share. */
  readonly isAbove: boolean
  readonly spareCores: number
}

const { browserShares } = limits
const { calms, busyCalms } = browserShares
const { partOfKey } = limits.overload

/** Average numbers of processors that a key uses. */
export interface KeyUse {
  readonly cores: number
  /** Those of processes with normal priority. */
  readonly normalCores: number
}

/** Processors that browsers may use, and those that nothing uses but processes of low priority. */
export interface Capacity {
  readonly cores: number
  readonly spareCores: number
}

/** Returns the number of processors that each key may use: an equal part of those that are left for browsers. */
export function shareOfKeys(uses: readonly KeyUse[], { cores, spareCores }: Capacity): number {
  const available = Math.min(cores, sum(uses.map(({ normalCores }) => normalCores)) + spareCores)
  return Math.min(cores * partOfKey, available / Math.max(1, uses.filter(isActive).length))
}

/** Returns whether a key uses so much of the machine, or of what other keys that use less could use, that it is limited. */
export function isExcessive(use: KeyUse, uses: readonly KeyUse[], capacity: Capacity): boolean {
  if (use.cores > capacity.cores * partOfKey) return true
  const share = shareOfKeys(uses, capacity)
  // Processes of low priority do not compete with others.
  const competes = (other: KeyUse) => isActive(other) && other.normalCores >= other.cores / 2 && other.cores <= share
  return use.cores > share * browserShares.tolerance && uses.some(competes)
}

const isActive = ({ cores }: KeyUse): boolean => cores >= browserShares.activeCores

/** Returns the memory that the browsers of one key may use, in bytes, unless it is configured. */
function memoryOfKey(): number {
  const limit = process.constrainedMemory()
  return Math.min(limit > 0 ? limit : Infinity, totalmem()) * partOfKey
}

type KeySharesConfig = Pick<EngineConfig, 'log' | 'pool' | 'browserMemoryBytes'>

export class KeyShares {
  readonly #log: EngineConfig['log']
  readonly #cores: number
  readonly #memoryBytes: number
  /** Browsers by the leader of their session. */
  readonly #browsers = new Map<number, Browser>()
  /** Loads the program that measures when it is first needed: most engines have no keys. */
  #measure: Measure = async (sessions) => {
    const { measuring } = await import('./measuring.ts')
    return (this.#measure = measuring())(sessions)
  }
  #isMeasuring = false
  readonly #excesses = new Map<string, number>()
  readonly #lowered = new Map<number, Lowered>()
  /** Processes that were ended because of their memory, which they still have for a moment. */
  readonly #ending = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  readonly #reported = new Set<string>()

  constructor({ log, pool, browserMemoryBytes = memoryOfKey() }: KeySharesConfig) {
    this.#log = log
    this.#cores = pool?.cores ?? availableParallelism()
    this.#memoryBytes = browserMemoryBytes
  }

  /** Adds a browser, by the PID of the leader of its session. */
  join(leader: number, owner: Origin): Sharing | undefined {
    if (owner === null || process.platform !== 'linux') return undefined
    const browser: Browser = { owner, endedAt: -Infinity, staysSlow: false }
    this.#browsers.set(leader, browser)
    this.#timer ??= setInterval(() => void this.#apply(), browserShares.everyMs).unref()
    return {
      get staysSlow() {
        return browser.staysSlow
      },
      memoryExcess: () => (performance.now() - browser.endedAt < browserShares.reportMs ? this.#tooMuch : undefined),
      leave: () => {
        // A new browser can have its PID already.
        if (this.#browsers.get(leader) === browser) this.#browsers.delete(leader)
        if (this.#browsers.size > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      },
    }
  }

  get #tooMuch(): string {
    return `the browsers of its key used more than ${Math.floor(this.#memoryBytes / 1024 / 1024)} MiB of memory`
  }

  async #apply(): Promise<void> {
    if (this.#isMeasuring) return
    this.#isMeasuring = true
    try {
      const { uses, spareCores } = await this.#measure(new Set(this.#browsers.keys()))
      const keys = new Map<string, ProcessUse[]>()
      for (const use of uses) {
        const owner = this.#browsers.get(use.session)?.owner
        // A browser can have ended meanwhile.
        if (owner !== undefined) keys.set(owner, [...(keys.get(owner) ?? []), use])
      }
      this.#shareProcessors(keys, spareCores)
      for (const [key, processes] of keys) this.#limitMemory(key, processes)
    } catch (error) {
      this.#reportOnce('cannot measure what browsers use', error as Error)
    } finally {
      this.#isMeasuring = false
    }
  }

  /** Reports a failure that would occur at each measurement. */
  #reportOnce(message: string, error?: Error): void {
    if (!this.#reported.has(message)) this.#log('error', message, error && { error: error.message })
    this.#reported.add(message)
  }

  #shareProcessors(keys: ReadonlyMap<string, readonly ProcessUse[]>, spareCores: number): void {
    const uses = new Map([...keys].map(([key, processes]) => [key, this.#useOf(processes)]))
    const capacity = { cores: this.#cores, spareCores }
    const all = [...uses.values()]
    for (const [key, processes] of keys) {
      const excesses = isExcessive(uses.get(key)!, all, capacity) ? (this.#excesses.get(key) ?? 0) + 1 : 0
      this.#excesses.set(key, excesses)
      const isAbove = excesses >= browserShares.excesses
      for (const leader of new Set(processes.map(({ session }) => session))) setSessionPriority(leader, isAbove)
      for (const one of processes) this.#prioritize(one, { isAbove, spareCores })
    }
    for (const key of this.#excesses.keys()) if (!keys.has(key)) this.#excesses.delete(key)
    const pids = new Set([...keys.values()].flat().map(({ pid }) => pid))
    for (const pid of this.#lowered.keys()) if (!pids.has(pid)) this.#lowered.delete(pid)
  }

  #useOf(processes: readonly ProcessUse[]): KeyUse {
    const normal = processes.filter(({ pid }) => !this.#lowered.has(pid))
    return { cores: coresOf(processes), normalCores: coresOf(normal) }
  }

  #prioritize({ pid, session, cores }: ProcessUse, { isAbove, spareCores }: Pressure): void {
    const lowered = this.#lowered.get(pid)
    if (cores >= browserShares.busyCores && (isAbove || lowered)) {
      this.#lowered.set(pid, { calms: 0 })
      // Repeated, because a process that may raise its priority does so for some of its threads.
      if (!lowerPriority(pid)) this.#reportOnce('cannot lower the priority of a busy browser')
    } else if (lowered && ++lowered.calms >= (spareCores < browserShares.busyCores ? busyCalms : calms)) {
      if (restorePriority(pid)) this.#lowered.delete(pid)
      else this.#browsers.get(session)!.staysSlow = true
    }
  }

  #limitMemory(key: string, processes: readonly ProcessUse[]): void {
    for (const pid of this.#ending) if (!processStat(pid)?.residentBytes) this.#ending.delete(pid)
    // Mapped files count for each process there, so that the exact use is never more.
    if (sum(processes.map(({ residentBytes }) => residentBytes)) <= this.#memoryBytes) return
    const exact = processes.map((one) => ({ ...one, bytes: this.#ending.has(one.pid) ? 0 : ownMemory(one.pid) }))
    const bytes = sum(exact.map((one) => one.bytes))
    if (bytes <= this.#memoryBytes) return
    const { pid, session } = processToEnd(exact)
    this.#browsers.get(session)!.endedAt = performance.now()
    this.#ending.add(pid)
    end(pid)
    this.#log('warn', 'ended the largest browser process of a key that used too much memory', {
      key_id: key,
      pid,
      bytes,
    })
  }
}

interface UsedMemory extends Pick<ProcessUse, 'pid' | 'session'> {
  readonly bytes: number
}

/** Returns the largest process, but a browser with all its pages only if it uses more than everything else. */
export function processToEnd(processes: readonly UsedMemory[]): UsedMemory {
  const inOrder = processes.toSorted((a, b) => b.bytes - a.bytes)
  const [largest, ...others] = inOrder as [UsedMemory, ...UsedMemory[]]
  const isBrowser = ({ pid, session }: UsedMemory) => pid === session
  if (!isBrowser(largest) || largest.bytes > sum(others.map(({ bytes }) => bytes))) return largest
  return others.find((one) => !isBrowser(one)) ?? largest
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const coresOf = (processes: readonly ProcessUse[]): number => sum(processes.map(({ cores }) => cores))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
