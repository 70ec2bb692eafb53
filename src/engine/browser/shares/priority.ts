/** Priorities of processes; only on Linux. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

const { PRIORITY_LOW } = constants.priority

/** Lowers the priority of a process with all its threads, which later threads inherit; returns whether it may do so. */
export const lowerPriority = (pid: number): boolean => setThreads(pid, PRIORITY_LOW)

/** Gives a process the priority of this one again; returns whether it may do so. */
export const restorePriority = (pid: number): boolean => setThreads(pid, getPriority())

function setThreads(pid: number, priority: number): boolean {
  try {
    // On Linux, each thread has a priority of its own.
    for (const thread of readdirSync(`/proc/${pid}/task`)) setUnlessEnded(Number(thread), priority)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ESRCH') return true
    if (code === 'EACCES' || code === 'EPERM') return false
    throw error
  }
}

function setUnlessEnded(thread: number, priority: number): void {
  try {
    setPriority(thread, priority)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** Kernels without such priorities, ended sessions, systems that forbid it, and a second change within 100 ms. */
const harmless: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EROFS', 'EAGAIN'])

/**
 * Sets the priority of a whole session among all sessions. It replaces the priorities of processes where the kernel
 * schedules by session (`sched_autogroup_enabled`), and every user may also raise it again.
 */
export function setSessionPriority(leader: number, isLow: boolean): void {
  const path = `/proc/${leader}/autogroup`
  const wanted = isLow ? PRIORITY_LOW : 0
  try {
    const current = Number(/nice (-?\d+)/.exec(readFileSync(path, 'utf8'))?.[1] ?? wanted)
    if (current !== wanted) writeFileSync(path, String(wanted))
  } catch (error) {
    if (!harmless.has(codeOf(error)!)) throw error
  }
}

/** Returns the code of a system error. `setPriority` has it in a field of its own. */
const codeOf = (error: unknown): string | undefined =>
  (error as { info?: NodeJS.ErrnoException }).info?.code ?? (error as NodeJS.ErrnoException).code
