/** One command of a session: what it was, what it has written, how it ended. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ExecRecord, ExecResult } from '../../../core/shapes/shell/exec.ts'
import type { ContainerExec, TerminalSize } from '../container-exec.ts'
import { encodeBytes, type Encoding } from './characters.ts'
import type { FrameLog } from './frame-log.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

/** How its output is given. */
export interface OutputTerms {
  readonly encoding: 'auto' | Encoding
  readonly isTerminal: boolean
  /** Frames of its output; without them it is collected. */
  readonly log: FrameLog | undefined
}

/** Bytes of output that were taken; the rest was dropped. */
export interface Handed {
  readonly stdout: number
  readonly stderr: number
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
  readonly #terms: OutputTerms
  /** By the clock that nobody sets. */
  readonly #begun = performance.now()
  readonly #stdout: Uint8Array[] = []
  readonly #stderr: Uint8Array[] = []
  #outcome: Outcome | undefined
  #handed: Handed = { stdout: 0, stderr: 0 }
  #artifactId: string | null = null
  #lost = false
  /** Writes to its input one after the other. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(identity: ExecIdentity, exec: ContainerExec, terms: OutputTerms) {
    this.identity = identity
    this.#exec = exec
    this.#terms = terms
    this.log = terms.log
  }

  get pid(): number {
    return this.#exec.pid
  }

  get isRunning(): boolean {
    return this.#outcome === undefined && !this.#lost
  }

  /** Memory that its output takes. */
  get bytes(): number {
    return sizeOf(this.#stdout) + sizeOf(this.#stderr)
  }

  /** Reads the output to its end, and waits for the exit. @throws BaxError `session_lost`. */
  async finish(takeOutput: (exec: ContainerExec) => Promise<Handed>): Promise<void> {
    try {
      const [exit, handed] = await Promise.all([this.#exec.exit, takeOutput(this.#exec)])
      this.#outcome = outcomeOf(exit, this.#exec.madeRoom)
      this.#handed = handed
    } catch (error) {
      this.#lost = true
      throw error
    }
  }

  /** Keeps the output for the answer. */
  collect = async (exec: ContainerExec): Promise<Handed> => {
    const into = async (source: AsyncIterable<Uint8Array>, kept: Uint8Array[]) => {
      for await (const chunk of source) kept.push(chunk)
      return sizeOf(kept)
    }
    const [stdout, stderr] = await Promise.all([into(exec.stdout, this.#stdout), into(exec.stderr, this.#stderr)])
    return { stdout, stderr }
  }

  leftArtifact(id: string | null): void {
    this.#artifactId = id
  }

  /** The command with all its processes: TERM, then KILL. */
  kill(): void {
    this.#exec.kill()
  }

  signal(number: number): void {
    this.#exec.signal(number)
  }

  /** @throws BaxError `conflict` when it has no terminal. */
  resize(size: TerminalSize): void {
    if (!this.#terms.isTerminal) throw new BaxError('conflict', `${this.identity.id} has no terminal`)
    this.#exec.resize(size)
  }

  /** Resolves when the program has room for more. @throws BaxError `conflict` when nobody reads. */
  async write(data: Uint8Array, eof: boolean): Promise<void> {
    const turn = this.#writing.then(() => this.#writeNow(data, eof))
    // The next one has its own try.
    this.#writing = turn.catch(() => {})
    await turn
  }

  async #writeNow(data: Uint8Array, eof: boolean): Promise<void> {
    const isRead = data.length === 0 || (await this.#exec.write(data))
    if (eof) this.#exec.endInput()
    if (!isRead) throw new BaxError('conflict', 'the program does not read its input any more')
  }

  /** What became of it, without its output. */
  outcome(): Omit<ExecResult, keyof ReturnType<RunningExec['output']>> & Outcome {
    const outcome = this.#outcome!
    return {
      ...outcome,
      exec_id: this.identity.id,
      stdout_truncated: this.#handed.stdout < outcome.stdout_bytes,
      stderr_truncated: this.#handed.stderr < outcome.stderr_bytes,
      artifact_id: this.#artifactId,
    }
  }

  /** What it has written so far, in the encoding that was asked for. */
  output(): Pick<ExecResult, 'stdout' | 'stderr' | 'stdout_encoding' | 'stderr_encoding'> {
    const { encoding } = this.#terms
    // What still comes may be the rest of a character, and so may what was dropped.
    const cut = (kept: readonly Uint8Array[], bytes: number | undefined) => bytes === undefined || sizeOf(kept) < bytes
    const stdout = encodeBytes(Buffer.concat(this.#stdout), encoding, cut(this.#stdout, this.#outcome?.stdout_bytes))
    const stderr = encodeBytes(Buffer.concat(this.#stderr), encoding, cut(this.#stderr, this.#outcome?.stderr_bytes))
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      stdout_encoding: stdout.encoding,
      stderr_encoding: stderr.encoding,
    }
  }

  /** Result of one that has ended. */
  result(): ExecResult {
    const { stdout, stderr, ...encodings } = this.output()
    const { exit_code, duration_ms, timed_out, ...facts } = this.outcome()
    // What everybody looks at comes first.
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
      duration_ms: Math.round(performance.now() - this.#begun),
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
