/** What an exit of a container's program is called on the wire. */
import type { SignalName } from '../../../core/shapes/shell/exec.ts'
import type { ExecExit } from '../container-exec.ts'

/** Signals of Linux in the order of their numbers, which other systems number otherwise. */
const signals = [
  'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL', 'SIGUSR1', 'SIGSEGV',
  'SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGSTKFLT', 'SIGCHLD', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN',
  'SIGTTOU', 'SIGURG', 'SIGXCPU', 'SIGXFSZ', 'SIGVTALRM', 'SIGPROF', 'SIGWINCH', 'SIGIO', 'SIGPWR', 'SIGSYS',
] // prettier-ignore

/** Number of a signal by its name. */
export const signalNumber = (name: SignalName): number => signals.indexOf(name) + 1

export interface Outcome {
  readonly exit_code: number
  readonly signal: string | null
  readonly duration_ms: number
  readonly timed_out: boolean
  readonly oom_killed: boolean
  readonly left_running: number
  readonly stdout_bytes: number
  readonly stderr_bytes: number
  readonly warning?: string
}

/**
 * The shell's rule: 128 + n for a signal; 124 after a time-out, as `timeout(1)` has it. `madeRoom` is the number of
 * processes that were killed to start it.
 */
export function outcomeOf(exit: ExecExit, madeRoom: number): Outcome {
  const { code, signal, timedOut } = exit
  const warning = warningOf(exit, madeRoom)
  return {
    exit_code: timedOut ? 124 : (code ?? 128 + (signal ?? 0)),
    signal: timedOut ? 'SIGKILL' : signal === null ? null : (signals[signal - 1] ?? `SIG${signal}`),
    duration_ms: Math.round(exit.durationUs / 1000),
    timed_out: timedOut,
    oom_killed: exit.oomKilled,
    left_running: exit.leftRunning,
    stdout_bytes: exit.stdoutBytes,
    stderr_bytes: exit.stderrBytes,
    ...(warning && { warning }),
  }
}

function warningOf({ crowdedOut }: ExecExit, madeRoom: number): string | undefined {
  if (crowdedOut) return 'killed: its processes filled limits.pids when another command was to start'
  if (madeRoom === 0) return undefined
  return `${madeRoom} processes of other commands were killed to start this one: they filled limits.pids`
}
