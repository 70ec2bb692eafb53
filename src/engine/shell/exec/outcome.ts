/** Translates exits of programs to the format of the API. */
import type { ExecResult, SignalName } from '../../../core/shapes/shell/exec.ts'
import type { ExecExit } from '../container-exec.ts'

/** Linux signals in the order of their numbers; other systems use different numbers. */
const signals = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGUSR1',
  'SIGSEGV',
  'SIGUSR2',
  'SIGPIPE',
  'SIGALRM',
  'SIGTERM',
  'SIGSTKFLT',
  'SIGCHLD',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPWR',
  'SIGSYS',
]

export const signalNumber = (name: SignalName): number => signals.indexOf(name) + 1

/** Outcome of a command, without its identity and output. */
export type Outcome = Omit<
  ExecResult,
  'exec_id' | 'artifact_id' | `std${'out' | 'err'}${'' | '_encoding' | '_truncated'}`
>

/**
 * Builds the outcome by the rules of shells: 128 + n for a signal, and 124 after a timeout, as in `timeout(1)`.
 * @param madeRoom Number of processes that were killed to start it.
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
  if (crowdedOut) return 'killed: its processes filled limits.pids while another command was starting'
  if (madeRoom === 0) return undefined
  return `${madeRoom} processes of other commands were killed to start this one: they filled limits.pids`
}

/** Names the outputs that were cut at `max_output_bytes`; returns nothing if all output was kept. */
export function truncationWarning(
  kept: Readonly<Record<'stdout' | 'stderr', number>>,
  { stdout_bytes: stdout, stderr_bytes: stderr }: Pick<Outcome, 'stdout_bytes' | 'stderr_bytes'>,
): string | undefined {
  const written = { stdout, stderr }
  const cut = (['stdout', 'stderr'] as const).filter((name) => kept[name] < written[name])
  if (cut.length === 0) return undefined
  const sizes = cut.map((name) => `${name} has ${written[name]} bytes`).join(', ')
  return `the output was truncated to max_output_bytes: ${sizes}`
}
