/** Shell session: its container, timeouts, commands and end. */
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type {
  ShellSession as SessionRecord,
  ShellSessionInput,
  StopReason,
} from '../../../core/shapes/shell/session.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ArtifactCapture, CapturedSession } from '../artifacts/capture.ts'
import { ContainerError, sessionLost } from '../container.ts'
import type { ShellContainer } from '../interface.ts'
import type { SessionDefaults } from '../exec/plan.ts'
import type { RunningExec } from '../exec/running-exec.ts'
import { ExecRegistry } from '../exec/exec-registry.ts'
import { IdleClock } from './idle-clock.ts'
import { closedError } from './tombstone.ts'

type Status = SessionRecord['status']

export interface SessionOptions {
  /** Key that created it; null where no keys are in use. */
  readonly owner: string | null
  readonly input: ShellSessionInput
  readonly image: string
  readonly log: Log
  /** Creates the capture of artifacts from the output mounts. */
  readonly captureFor: (session: CapturedSession) => ArtifactCapture
  /** Called once, when the session has stopped. */
  readonly onStopped: (session: ShellSession) => void
}

export class ShellSession {
  readonly id = newId('sh')
  readonly execs = new ExecRegistry()
  readonly capture: ArtifactCapture
  readonly owner: string | null
  readonly name: string | null
  readonly terms: SessionDefaults
  readonly maxOutputBytes: number
  readonly #options: SessionOptions
  readonly #createdAt = new Date()
  /** The same time by the monotonic clock. */
  readonly #startedAt = performance.now()
  readonly #idle: IdleClock
  #container: ShellContainer | undefined
  #status: Status = 'creating'
  #stopReason: StopReason | null = null
  #stoppedAt: Date | null = null
  #lifetime: NodeJS.Timeout | undefined
  #stopping: Promise<void> | undefined
  readonly #ended = new AbortController()
  /** Aborted when the session has stopped. */
  readonly ended = this.#ended.signal

  constructor(options: SessionOptions) {
    this.#options = options
    const { input, owner } = options
    this.owner = owner
    this.name = input.name ?? null
    this.terms = input
    this.maxOutputBytes = input.limits.max_output_bytes
    this.capture = options.captureFor({ id: this.id, owner, mounts: input.output_mounts, endsBy: this.endsBy })
    this.#idle = new IdleClock(input.timeout_secs * 1000, () => void this.stop('idle_timeout'))
  }

  get status(): Status {
    return this.#status
  }

  get isLive(): boolean {
    return this.#status === 'creating' || this.#status === 'ready'
  }

  /** Starts the session on its running container. */
  begin(container: ShellContainer): void {
    this.#container = container
    this.#status = 'ready'
    this.#idle.start()
    const remainingMs = this.#lifetimeMs - (performance.now() - this.#startedAt)
    this.#lifetime = setTimeout(() => void this.stop('max_lifetime'), remainingMs)
    this.#lifetime.unref()
    void container.died.then(({ reason }) => {
      if (reason !== 'removed') void this.stop(reason === 'unreachable' ? 'engine_lost' : 'container_died')
    })
  }

  /** Marks the session as failed: no container could be created. */
  fail(reason: StopReason): void {
    this.#idle.stop()
    this.#status = 'failed'
    this.#finish(reason)
  }

  /**
   * Runs work on the container; the session does not become idle meanwhile.
   * @throws BaxError `conflict` before it is ready and while it stops, `session_lost`, `session_closed` afterwards and for
   * work that the end of the session interrupts.
   */
  async use<T>(work: (container: ShellContainer) => Promise<T>): Promise<T> {
    const { container, release } = this.hold()
    try {
      return await work(container)
    } catch (error) {
      const isStopped =
        container.end?.reason === 'removed' && error instanceof BaxError && error.code === 'session_lost'
      throw isStopped ? closedError(this.id, 'stopped', this.#stopReason!) : error
    } finally {
      release()
    }
  }

  /** Keeps the session in use beyond the call, until `release`. */
  hold(): { container: ShellContainer; release: () => void } {
    this.assertReady()
    return { container: this.#container!, release: this.#idle.hold() }
  }

  assertReady(): void {
    if (this.#status === 'ready') return
    if (!this.isLive && this.#status !== 'stopping') throw closedError(this.id, this.#status, this.#stopReason!)
    const end = this.#container?.end
    if (end && end.reason !== 'removed') throw sessionLost(end)
    throw new BaxError('conflict', `the shell session ${this.id} is ${this.#status}`, {
      details: { status: this.#status, stop_reason: this.#stopReason, reason: this.#stopReason },
    })
  }

  touch(timeoutSecs?: number): void {
    this.assertReady()
    this.#idle.touch(timeoutSecs === undefined ? undefined : timeoutSecs * 1000)
  }

  /** Kills all its processes and returns their number. @throws BaxError `timeout` if some cannot be killed. */
  async kill(): Promise<number> {
    try {
      return await this.use((container) => container.killAll())
    } catch (error) {
      if (!(error instanceof ContainerError) || error.code !== 'ETIMEDOUT') throw error
      throw new BaxError('timeout', `some processes of the shell session ${this.id} are still running`, {
        hint: 'delete the session',
        cause: error,
      })
    }
  }

  /** Captures the artifacts of a command, or null without any. Failures do not affect the outcome of the command. */
  async captureAfter(exec: RunningExec): Promise<{ id: string; files: number } | null> {
    try {
      return await this.capture.scan(this.#container!.files, exec.identity.id)
    } catch (error) {
      this.#options.log('warn', 'could not read the output mounts', { session: this.id, cause: String(error) })
      return null
    }
  }

  /** Ends its commands, captures the last artifacts, and removes the container. Safe to call twice. */
  stop(reason: StopReason): Promise<void> {
    return (this.#stopping ??= this.#stop(reason))
  }

  async #stop(reason: StopReason): Promise<void> {
    if (this.#status !== 'ready') return
    this.#status = 'stopping'
    this.#stopReason = reason
    this.#idle.stop()
    clearTimeout(this.#lifetime)
    const container = this.#container!
    try {
      for (const { exec } of this.execs.running()) exec.kill()
      if (!container.end) await this.#lastCapture(container)
      await container.remove()
    } catch (error) {
      this.#options.log('warn', 'failed to stop a shell session', { session: this.id, cause: String(error) })
    } finally {
      this.#status = 'stopped'
      this.#finish(reason)
    }
    await this.capture.end(this.#stoppedAt!).catch((error: unknown) => {
      this.#options.log('warn', 'could not record the end of a session', { session: this.id, cause: String(error) })
    })
  }

  /** Captures the artifacts once all commands have ended, within a time limit. */
  async #lastCapture(container: ShellContainer): Promise<void> {
    const work = Promise.all(this.execs.running().map(({ ended }) => ended))
      .then(() => this.capture.scan(container.files, null))
      .catch((error: unknown) => {
        this.#options.log('warn', 'could not store the last artifacts', { session: this.id, cause: String(error) })
      })
    await withDeadline(work, { ms: limits.shell.lastCaptureMs, value: undefined })
  }

  #finish(reason: StopReason): void {
    this.#stopReason = reason
    this.#stoppedAt = new Date()
    this.execs.shrink()
    this.#ended.abort()
    this.#options.onStopped(this)
  }

  /** Latest possible end. */
  get endsBy(): Date {
    return new Date(this.#createdAt.getTime() + this.#lifetimeMs)
  }

  get #lifetimeMs(): number {
    return this.#options.input.max_lifetime_secs * 1000
  }

  record(): SessionRecord {
    const { input, image } = this.#options
    const { language, cwd, output_mounts, network, metadata, max_lifetime_secs } = input
    const expires = Math.min(this.#idle.expires.getTime(), this.endsBy.getTime())
    return {
      id: this.id,
      session_id: this.id,
      status: this.#status,
      name: this.name,
      image,
      language,
      cwd,
      output_mounts,
      network,
      limits: input.limits,
      timeout_secs: this.#idle.timeoutSecs,
      max_lifetime_secs,
      created_at: this.#createdAt.toISOString(),
      last_active_at: this.#idle.lastActive.toISOString(),
      expires_at: (this.#stoppedAt ?? new Date(expires)).toISOString(),
      running_execs: this.execs.running().length,
      exec_count: this.execs.count,
      artifact_count: this.capture.count,
      stopped_at: this.#stoppedAt?.toISOString() ?? null,
      stop_reason: this.#stopReason,
      metadata,
    }
  }
}
