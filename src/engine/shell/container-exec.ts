/** Interface of programs that run in a container, as started by `ShellContainer.exec`. */

export interface ExecSpec {
  /** Program and arguments without NUL, at most 128 KiB each; `argv[0]` without a slash is searched in PATH. */
  readonly argv: readonly (string | Uint8Array)[]
  /**
   * Script of up to 1 MiB, kept in memory (memfd); the path to read it inside the program (`/proc/self/fd/N`) replaces
   * every argv item equal to `scriptPlaceholder`.
   */
  readonly script?: Uint8Array
  /** Absolute, or relative to /workspace. */
  readonly cwd: string
  /** Complete environment except HOME, PATH and LANG, which have defaults that this may override. */
  readonly env: Readonly<Record<string, string>>
  /** `none` is /dev/null; `pipe` is written with `write`; bytes are written, then the input is closed. */
  readonly stdin: 'none' | 'pipe' | Uint8Array
  /** Terminal instead of pipes: all output arrives on `stdout`. */
  readonly pty?: TerminalSize
  /** Timeout in milliseconds: the process tree then gets TERM, and KILL after 200 ms. */
  readonly timeoutMs?: number
  /**
   * Maximum number of bytes delivered per output stream; the rest is counted and dropped inside the container.
   * Undefined delivers everything at the pace of the reader.
   */
  readonly outputLimit?: number
}

/** Placeholder in `argv` for the path of `script`. */
export const scriptPlaceholder = '\u0000script'

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface ContainerExec {
  /** Process ID inside the container. */
  readonly pid: number
  /** Number of processes that the agent killed to start this one, because the process limit was reached. */
  readonly madeRoom: number
  /**
   * Output in pieces of at most 64 KiB; ends after the program has ended and all of it was delivered. At most 1 MiB is
   * buffered for a reader, then the program blocks. Read each at most once; leaving the loop early (`break`,
   * `return()`) discards the rest. Throws `session_lost` when the container is lost.
   */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /**
   * Writes to `stdin: 'pipe'` or to the terminal; resolves when there is room for more. Resolves with false when the
   * input is no longer read: the program has ended or closed it.
   */
  write(data: Uint8Array): Promise<boolean>
  /** Closes the input; does nothing on a terminal. */
  endInput(): void
  /** Sends a signal, such as 2, to the process group. Does nothing after the end. */
  signal(number: number): void
  resize(size: TerminalSize): void
  /** Ends the process tree: TERM and, after 200 ms, KILL, or KILL now. `exit` resolves afterwards. */
  kill(at?: 'gently' | 'now'): void
  /**
   * Resolves once the process has ended and its output was read, discarded, or dropped because of `outputLimit`.
   * @throws BaxError `session_lost`; an exit status is never made up.
   */
  readonly exit: Promise<ExecExit>
}

export interface ExecExit {
  /** Exit code, or null if a signal ended it. 127: not found, 126: not executable. */
  readonly code: number | null
  /** Number of the signal that ended the process, such as 9, or null. */
  readonly signal: number | null
  /** Whether the timeout expired and the tree was killed. */
  readonly timedOut: boolean
  /** Whether `kill()` was called and the tree was killed. */
  readonly killed: boolean
  /** Whether the kernel killed a process of the container for memory meanwhile. */
  readonly oomKilled: boolean
  /** Whether the tree was killed because it filled the process limit when another program was started. */
  readonly crowdedOut: boolean
  /** Number of processes that this exec started and that are still running. */
  readonly leftRunning: number
  /** Number of bytes written, delivered or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Duration measured inside the container, in microseconds. */
  readonly durationUs: number
}
