/** One shell session: its container, its times, its commands, and its end. */
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
import type { ArtifactCapture, CaptureOf } from '../artifacts/capture.ts'
import { ContainerFault, type ShellContainer } from '../container.ts'
import type { SessionTerms } from '../exec/plan.ts'
import type { RunningExec } from '../exec/running-exec.ts'
import { KeptExecs } from '../exec/kept-execs.ts'
import { closedError } from './endings.ts'
import { IdleClock } from './idle-clock.ts'

type Status = SessionRecord['status']

export interface SessionParts {
  /** The key that it was made under; null where no keys are in use. */
  readonly owner: string | null
  readonly input: ShellSessionInput
  readonly image: string
  readonly log: Log
  /** Makes the one who keeps what commands leave in the output mounts. */
  readonly captureFor: (session: CaptureOf) => ArtifactCapture
  /** Called once, when the session has stopped. */
  readonly onStopped: (session: ShellSession) => void
}

export class ShellSession {
  readonly id = newId('sh')
  readonly execs = new KeptExecs()
  readonly capture: ArtifactCapture
  readonly #parts: SessionParts
  readonly #createdAt = new Date()
  /** The same moment by the clock that nobody sets. */
  readonly #begun = performance.now()
  readonly #idle: IdleClock
  #container: ShellContainer | undefined
  #status: Status = 'creating'
  #stopReason: StopReason | null = null
  #stoppedAt: Date | null = null
  #lifetime: NodeJS.Timeout | undefined
  #stopping: Promise<void> | undefined

  constructor(parts: SessionParts) {
    this.#parts = parts
    const { input, owner } = parts
    this.capture = parts.captureFor({ id: this.id, owner, mounts: input.output_mounts, endsBy: this.#endsBy })
    this.#idle = new IdleClock(input.timeout_secs * 1000, () => void this.stop('idle_timeout'))
  }

  get owner(): string | null {
    return this.#parts.owner
  }

  get name(): string | null {
    return this.#parts.input.name ?? null
  }

  get status(): Status {
    return this.#status
  }

  get isLive(): boolean {
    return this.#status === 'creating' || this.#status === 'ready'
  }

  get terms(): SessionTerms {
    return this.#parts.input
  }

  get maxOutputBytes(): number {
    return this.#parts.input.limits.max_output_bytes
  }

  /** The container that was made for it runs. */
  begin(container: ShellContainer): void {
    this.#container = container
    this.#status = 'ready'
    this.#idle.start()
    const left = this.#lifetimeMs - (performance.now() - this.#begun)
    this.#lifetime = setTimeout(() => void this.stop('max_lifetime'), left)
    this.#lifetime.unref()
    void container.died.then(({ reason }) => {
      if (reason !== 'removed') void this.stop(reason === 'unreachable' ? 'engine_lost' : 'container_died')
    })
  }

  /** No container could be made. */
  fail(reason: StopReason): void {
    this.#idle.stop()
    this.#status = 'failed'
    this.#ended(reason)
  }

  /**
   * Works on the container; the session does not idle meanwhile.
   * @throws BaxError `conflict` before it is ready and while it stops, `session_closed` after.
   */
  async use<T>(work: (container: ShellContainer) => Promise<T>): Promise<T> {
    const { container, release } = this.hold()
    try {
      return await work(container)
    } finally {
      release()
    }
  }

  /** The same for work that goes on after the call; `release` ends it. */
  hold(): { container: ShellContainer; release: () => void } {
    this.assertReady()
    return { container: this.#container!, release: this.#idle.hold() }
  }

  assertReady(): void {
    if (this.#status === 'ready') return
    if (!this.isLive && this.#status !== 'stopping') throw closedError(this.id, this.#status, this.#stopReason!)
    throw new BaxError('conflict', `the shell session ${this.id} is ${this.#status}`, {
      details: { status: this.#status, stop_reason: this.#stopReason, reason: this.#stopReason },
    })
  }

  touch(timeoutSecs?: number): void {
    this.assertReady()
    this.#idle.touch(timeoutSecs === undefined ? undefined : timeoutSecs * 1000)
  }

  /** Kills all its processes; returns their number. @throws BaxError `timeout` when some cannot be killed. */
  async kill(): Promise<number> {
    try {
      return await this.use((container) => container.killAll())
    } catch (error) {
      if (!(error instanceof ContainerFault) || error.code !== 'ETIMEDOUT') throw error
      throw new BaxError('timeout', `some processes of the shell session ${this.id} are still alive`, {
        hint: 'delete the session',
        cause: error,
      })
    }
  }

  /** What a command has left in the output mounts; null when nothing. The command's own end stands either way. */
  async captureAfter(exec: RunningExec): Promise<{ id: string; files: number } | null> {
    try {
      return await this.capture.take(this.#container!.files, exec.identity.id)
    } catch (error) {
      this.#parts.log('warn', 'the output mounts could not be read', { session: this.id, cause: String(error) })
      return null
    }
  }

  /** Ends its commands, keeps what they have left, and removes the container. Safe to call twice. */
  stop(reason: StopReason): Promise<void> {
    this.#stopping ??= this.#stop(reason)
    return this.#stopping
  }

  async #stop(reason: StopReason): Promise<void> {
    if (this.#status !== 'ready') return
    this.#status = 'stopping'
    this.#stopReason = reason
    this.#idle.stop()
    clearTimeout(this.#lifetime)
    const container = this.#container!
    try {
      const running = this.execs.running()
      for (const exec of running) exec.kill()
      if (!container.end) await this.#lastCapture(container)
      await container.remove()
    } catch (error) {
      this.#parts.log('warn', 'a shell session did not end as it should', { session: this.id, cause: String(error) })
    } finally {
      this.#status = 'stopped'
      this.#ended(reason)
    }
    await this.capture.end(this.#stoppedAt!).catch((error: unknown) => {
      this.#parts.log('warn', 'the end of a session could not be noted', { session: this.id, cause: String(error) })
    })
  }

  /** What is there when all has ended, as far as that can be had in time. */
  async #lastCapture(container: ShellContainer): Promise<void> {
    const work = Promise.all(this.execs.running().map(({ ended }) => ended))
      .then(() => this.capture.take(container.files, null))
      .catch((error: unknown) => {
        this.#parts.log('warn', 'the last artifacts could not be kept', { session: this.id, cause: String(error) })
      })
    await withDeadline(work, { ms: limits.shell.lastCaptureMs, value: undefined })
  }

  #ended(reason: StopReason): void {
    this.#stopReason = reason
    this.#stoppedAt = new Date()
    this.execs.shrink()
    this.#parts.onStopped(this)
  }

  get #endsBy(): Date {
    return new Date(this.#createdAt.getTime() + this.#lifetimeMs)
  }

  get #lifetimeMs(): number {
    return this.#parts.input.max_lifetime_secs * 1000
  }

  record(): SessionRecord {
    const { input, image } = this.#parts
    const { language, cwd, output_mounts, network, metadata, max_lifetime_secs } = input
    const expires = Math.min(this.#idle.expires.getTime(), this.#endsBy.getTime())
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
