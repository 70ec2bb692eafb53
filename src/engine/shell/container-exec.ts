/** Programs that run in a container, as `ShellContainer.exec` gives them. */

export interface ExecSpec {
  /** The program and its arguments; argv[0] without a slash is looked up in PATH. Bytes, no NUL. Together at most 128 KiB an item. */
  readonly argv: readonly (string | Uint8Array)[]
  /**
   * A script of any length up to 1 MiB, kept in memory (memfd); the path it can be read from inside the program
   * (`/proc/self/fd/N`) replaces every argv item equal to `scriptPlaceholder`.
   */
  readonly script?: Uint8Array
  /** Absolute, or relative to /workspace. */
  readonly cwd: string
  /** The whole environment but HOME, PATH and LANG, which have defaults that this may replace. */
  readonly env: Readonly<Record<string, string>>
  /** `none` is /dev/null; `pipe` is written through `stdin`; bytes are written and then closed. */
  readonly stdin: 'none' | 'pipe' | Uint8Array
  /** A terminal instead of pipes: everything comes on `stdout`. */
  readonly pty?: TerminalSize
  /** Milliseconds after which the whole process tree gets TERM, 200 ms later KILL. */
  readonly timeoutMs?: number
  /**
   * Bytes of each output stream that are handed over; the rest is counted and dropped inside the container.
   * Undefined hands over all, at the pace of the reader.
   */
  readonly outputLimit?: number
}

/** Stands in `argv` for the path of `script`. */
export const scriptPlaceholder = '\u0000script'

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface ContainerExec {
  /** The process id inside the container. */
  readonly pid: number
  /** Processes that the agent killed to start this one, because the limit of processes had been reached. */
  readonly madeRoom: number
  /**
   * Output as it comes, in pieces of at most 64 KiB; ends when the program ended and its last output was handed over.
   * At most 1 MiB waits for a reader, then the program has to wait. Read each at most once; a reader that leaves the
   * loop early (`break`, `return()`) discards the rest. Throws `session_lost` when the container goes.
   */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /**
   * Writes to `stdin: 'pipe'` (or to the terminal); resolves when there is room for more. False when nobody reads any
   * more: the program ended or closed its input.
   */
  write(data: Uint8Array): Promise<boolean>
  /** Closes the input (on a terminal: nothing). */
  endInput(): void
  /** Sends a signal to the process group, e.g. 2. Does nothing when the program has ended. */
  signal(number: number): void
  resize(size: TerminalSize): void
  /** Ends the whole process tree: TERM, 200 ms, KILL (or KILL at once). `exit` resolves after it. Does nothing after the end. */
  kill(at?: 'gently' | 'now'): void
  /**
   * The end, once the process has ended and its output was drained (not before `stdout` and `stderr` have been read
   * or discarded, except for what `outputLimit` drops). @throws BaxError `session_lost`; an exit is never made up.
   */
  readonly exit: Promise<ExecExit>
}

export interface ExecExit {
  /** WEXITSTATUS, or null when a signal ended it. 127/126: not found/not executable. */
  readonly code: number | null
  /** Number of the signal that ended the process (9), or null. */
  readonly signal: number | null
  /** The time-out of the spec fired and the tree was killed. */
  readonly timedOut: boolean
  /** `kill()` was called and the tree was killed. */
  readonly killed: boolean
  /** The kernel killed a process of the container for memory while this ran. */
  readonly oomKilled: boolean
  /** The tree was killed because it had filled the limit of processes when another program was to start. */
  readonly crowdedOut: boolean
  /** Processes that this exec started and that are still running. */
  readonly leftRunning: number
  /** Everything that was written, handed over or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Measured inside the container, microseconds. */
  readonly durationUs: number
}
