/** Facts about other processes of this machine. */
import { readFileSync } from 'node:fs'

/** Returns whether a process exists; also true for one of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

export interface ProcessStat {
  readonly state: string
  /** Distinguishes the process from a later one with the same PID. */
  readonly startTime: string
  /** PID of the leader of its session. */
  readonly session: number
  /** Processor time that all its threads have used, in seconds. */
  readonly cpuSecs: number
  /** Memory in use, in bytes, including pages that it shares with other processes. */
  readonly residentBytes: number
}

/** Unit of processor times in `/proc`, which is the same on all systems that Node supports. */
export const ticksPerSec = 100

let pageSize: number | undefined

/** Returns the size of a page of memory, in bytes. */
const pageBytes = (): number =>
  (pageSize ??= Number(/^KernelPageSize:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps', 'utf8'))?.[1] ?? 4) * 1024)

/** Returns facts about a process; only on Linux. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name in parentheses may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {
      state: fields[0]!,
      startTime: fields[19]!,
      session: Number(fields[3]),
      cpuSecs: (Number(fields[11]) + Number(fields[12])) / ticksPerSec,
      residentBytes: Number(fields[21]) * pageBytes(),
    }
  } catch {
    return undefined
  }
}

/** Returns the memory of a process without mapped files, which others also use, in bytes; only on Linux. */
export function ownMemory(pid: number): number {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    // It has ended.
    return 0
  }
  const kibibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return (kibibytes('RssAnon') + kibibytes('RssShmem')) * 1024
}
