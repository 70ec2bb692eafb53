/** Command of a session: its identity, output and outcome. */
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ExecRecord, ExecResult } from '../../../core/shapes/shell/exec.ts'
import type { ContainerExec, TerminalSize } from '../container-exec.ts'
import { encodeBytes, type Encoding } from './characters.ts'
import type { FrameLog } from './frame-log.ts'
import { type Outcome, outcomeOf, truncationWarning } from './outcome.ts'
import { type OutputType, streamOutput } from './pieces.ts'

export interface OutputOptions {
  readonly encoding: 'auto' | Encoding
  readonly isTerminal: boolean
  /** Log for its output; without one the output is collected. */
  readonly log: FrameLog | undefined
}

export interface ExecIdentity {
  readonly id: string
  readonly sessionId: string
  readonly startedAt: string
}

export class RunningExec {
  readonly identity: ExecIdentity
  readonly log: FrameLog | undefined
  readonly #exec: ContainerExec
  readonly #options: OutputOptions
  /** Uses the monotonic clock. */
  readonly #startedAt = performance.now()
  readonly #stdout: Uint8Array[] = []
  readonly #stderr: Uint8Array[] = []
  #outcome: Outcome | undefined
  /** Number of bytes delivered; the rest was dropped. */
  #delivered = { stdout: 0, stderr: 0 }
  #artifactId: string | null = null
  #lost = false
  /** Queue of writes to its input. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(identity: ExecIdentity, exec: ContainerExec, options: OutputOptions) {
    this.identity = identity
    this.#exec = exec
    this.#options = options
    this.log = options.log
  }

  get pid(): number {
    return this.#exec.pid
  }

  get isRunning(): boolean {
    return this.#outcome === undefined && !this.#lost
  }

  /** Size of the collected output, in bytes. */
  get bytes(): number {
    return sizeOf(this.#stdout) + sizeOf(this.#stderr)
  }

  /** Reads all output and waits for the exit. @throws BaxError `session_lost`. */
  async finish(): Promise<void> {
    try {
      const [exit, stdout, stderr] = await Promise.all([
        this.#exec.exit,
        // A terminal has one stream.
        this.#take(this.#exec.stdout, this.#stdout, this.#options.isTerminal ? 'pty' : 'stdout'),
        this.#take(this.#exec.stderr, this.#stderr, 'stderr'),
      ])
      this.#outcome = outcomeOf(exit, this.#exec.madeRoom)
      this.#delivered = { stdout, stderr }
    } catch (error) {
      this.#lost = true
      throw error
    }
  }

  /** Adds output to the log, or collects it for the response; returns its number of bytes. */
  async #take(source: AsyncIterable<Uint8Array>, chunks: Uint8Array[], type: OutputType): Promise<number> {
    if (this.log) return streamOutput(source, this.log, type)
    for await (const chunk of source) chunks.push(chunk)
    return sizeOf(chunks)
  }

  setArtifact(id: string | null): void {
    this.#artifactId = id
  }

  /** Ends the command with all its processes: TERM, then KILL. */
  kill(): void {
    this.#exec.kill()
  }

  signal(number: number): void {
    this.#exec.signal(number)
  }

  /** @throws BaxError `conflict` if it has no terminal. */
  resize(size: TerminalSize): void {
    if (!this.#options.isTerminal) throw new BaxError('conflict', `${this.identity.id} has no terminal`)
    this.#exec.resize(size)
  }

  /** Resolves when the program has room for more. @throws BaxError `conflict` if it no longer reads, `session_lost` */
  async write(data: Uint8Array, eof: boolean): Promise<void> {
    const written = this.#writing.then(() => this.#writeNow(data, eof))
    // A failed write must not block the next one.
    this.#writing = written.catch(() => {})
    await written
  }

  async #writeNow(data: Uint8Array, eof: boolean): Promise<void> {
    const isRead = data.length === 0 || (await this.#exec.write(data))
    if (eof) this.#exec.endInput()
    if (isRead) return
    // The loss of the container also closes the input.
    await withDeadline(this.#exec.exit, { ms: 0, value: undefined })
    throw new BaxError('conflict', 'the program no longer reads its input')
  }

  /** Returns the outcome without the output. */
  outcome(): Omit<ExecResult, keyof ReturnType<RunningExec['output']>> & Outcome {
    const outcome = this.#outcome!
    const warning = [outcome.warning, truncationWarning(this.#delivered, outcome)].filter(Boolean).join('; ')
    return {
      ...outcome,
      ...(warning && { warning }),
      exec_id: this.identity.id,
      stdout_truncated: this.#delivered.stdout < outcome.stdout_bytes,
      stderr_truncated: this.#delivered.stderr < outcome.stderr_bytes,
      artifact_id: this.#artifactId,
    }
  }

  /** Returns the output so far in the requested encoding. */
  output(): Pick<ExecResult, 'stdout' | 'stderr' | 'stdout_encoding' | 'stderr_encoding'> {
    const { encoding } = this.#options
    // The output may end within a character if more follows or was dropped.
    const cut = (parts: readonly Uint8Array[], bytes: number | undefined) =>
      bytes === undefined || sizeOf(parts) < bytes
    const stdout = encodeBytes(Buffer.concat(this.#stdout), encoding, cut(this.#stdout, this.#outcome?.stdout_bytes))
    const stderr = encodeBytes(Buffer.concat(this.#stderr), encoding, cut(this.#stderr, this.#outcome?.stderr_bytes))
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      stdout_encoding: stdout.encoding,
      stderr_encoding: stderr.encoding,
    }
  }

  /** Returns the result after the end. */
  result(): ExecResult {
    const { stdout, stderr, ...encodings } = this.output()
    const { exit_code, duration_ms, timed_out, ...facts } = this.outcome()
    // The most relevant fields come first.
    return { stdout, stderr, exit_code, duration_ms, timed_out, ...facts, ...encodings }
  }

  record(): ExecRecord {
    const { id, sessionId, startedAt } = this.identity
    const common = { session_id: sessionId, pid: this.pid, started_at: startedAt }
    if (this.#outcome) return { ...this.result(), ...common, status: 'exited' }
    return {
      ...this.output(),
      ...common,
      exec_id: id,
      status: this.#lost ? 'lost' : 'running',
      exit_code: null,
      signal: null,
      duration_ms: Math.round(performance.now() - this.#startedAt),
      timed_out: false,
      oom_killed: false,
      left_running: 0,
      stdout_bytes: sizeOf(this.#stdout),
      stderr_bytes: sizeOf(this.#stderr),
      stdout_truncated: false,
      stderr_truncated: false,
      artifact_id: null,
    }
  }
}

const sizeOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0)
