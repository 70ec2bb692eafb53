/** Manages the shell sessions of one engine: live ones, and those that have ended recently. */
import type { Call, Frame, StreamCall } from '../../../core/operation/call.ts'
import { type Caller, canSee, findByName, isVisibleTo } from '../../../core/access/caller.ts'
import { Quota } from '../../../core/access/quota.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import { limits } from '../../../core/limits/limits.ts'
import {
  afterShellCursor,
  newestShellFirst,
  shellCursor,
  type ShellKill,
  type ShellList,
  type ShellListInput,
  type ShellSession as SessionRecord,
  type ShellSessionInput,
} from '../../../core/shapes/shell/session.ts'
import { endBound } from '../../bound.ts'
import { leaseOf } from '../../lease.ts'
import { ArtifactCapture } from '../artifacts/capture.ts'
import type { ArtifactStore } from '../artifacts/store.ts'
import { TombstoneStore } from '../../store/tombstones.ts'
import { ownImages } from '../container.ts'
import type { ShellContainers } from '../interface.ts'
import { ShellTombstone, shellTombstones } from './tombstone.ts'
import { ShellSession } from './session.ts'
import { specOf } from './container-spec.ts'

export interface SessionsOptions {
  readonly config: EngineConfig
  /** Keys; losing one ends its sessions. */
  readonly keys: KeyRing
  readonly store: ArtifactStore
  /** Connects at the first call. */
  readonly containers: () => Promise<ShellContainers>
}

export class ShellSessions {
  readonly #options: SessionsOptions
  readonly #quota: Quota
  /** Sessions by ID, in the order of their creation. */
  readonly #sessions = new Map<string, ShellSession>()
  /** Sessions being created, and how to cancel them. */
  readonly #pending = new Map<string, { readonly abort: AbortController; readonly done: Promise<void> }>()
  readonly #expiryTimers = new Set<NodeJS.Timeout>()
  /** Undefined for embedded engines, whose sessions cannot be looked up later. */
  readonly #tombstones: TombstoneStore<SessionRecord> | undefined
  /** Sessions of earlier engines by ID. */
  readonly #past = new Map<string, ShellTombstone>()
  readonly #closing = new AbortController()

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#quota = new Quota('shells', options.config.allowances)
    this.#tombstones =
      options.config.home === 'embedded' ? undefined : new TombstoneStore(shellTombstones, options.config)
  }

  /** Number of live sessions. */
  get count(): number {
    return [...this.#sessions.values()].filter(({ isLive }) => isLive).length
  }

  /** Number of commands running in them. */
  get running(): number {
    return [...this.#sessions.values()].reduce((sum, { execs }) => sum + execs.running().length, 0)
  }

  /** Returns the sessions of this engine visible to the caller, in the order of their creation. */
  seenBy(caller: Caller): ShellSession[] {
    return [...this.#sessions.values()].filter(isVisibleTo(caller))
  }

  /** Finds a session of this engine. @throws BaxError `shell_session_not_found`, `session_closed` for earlier ones. */
  find(idOrName: string, caller: Caller): ShellSession {
    const found = this.#lookUp(idOrName, caller)
    return found instanceof ShellTombstone ? found.assertReady() : found
  }

  /** @throws BaxError `shell_session_not_found`, also for sessions of other keys. */
  #lookUp(idOrName: string, caller: Caller): ShellSession | ShellTombstone {
    const found = this.#locate(idOrName, caller)
    if (found) return found
    throw new BaxError('shell_session_not_found', `no shell session is known as ${idOrName}`, {
      hint: 'list them with GET /shell/sessions (bax shell list), or create one with POST /shell/sessions (bax shell create)',
    })
  }

  /** Returns the ID of a known session by ID or name. */
  idOf(idOrName: string, caller: Caller): string | undefined {
    return this.#locate(idOrName, caller)?.id
  }

  #locate(idOrName: string, caller: Caller): ShellSession | ShellTombstone | undefined {
    const session = this.#sessions.get(idOrName) ?? this.#archived().get(idOrName)
    if (session && canSee(caller, session.owner)) return session
    const live = [...this.#sessions.values()].filter(({ isLive }) => isLive)
    return findByName(live, idOrName, caller)
  }

  /** Returns the sessions of earlier engines that are still remembered. */
  #archived(): ReadonlyMap<string, ShellTombstone> {
    for (const past of this.#tombstones?.takeOver() ?? [])
      this.#past.set(past.session.session_id, new ShellTombstone(past))
    const oldest = Date.now() - limits.shell.tombstoneMs
    for (const [id, { endedAt }] of this.#past) if (endedAt < oldest) this.#past.delete(id)
    return this.#past
  }

  async create(
    input: ShellSessionInput,
    { signal, caller, reservation }: Pick<Call, 'signal' | 'caller' | 'reservation'>,
  ): Promise<SessionRecord> {
    const { keyId: owner } = caller
    this.#admit(input, owner)
    const release = this.#quota.take(caller)
    const { config, store } = this.#options
    const image = input.image ?? ownImages.default
    const session = new ShellSession({
      owner,
      input,
      image,
      log: config.log,
      captureFor: (facts) => new ArtifactCapture(facts, store, config),
      onStopped: (stopped) => {
        release()
        const keptMs = stopped.capture.count > 0 ? limits.artifacts.retentionMs : limits.shell.tombstoneMs
        endBound(config, stopped.id, keptMs)
        this.#archive(stopped)
      },
    })
    this.#sessions.set(session.id, session)
    const abort = new AbortController()
    const canceled = AbortSignal.any([
      signal,
      abort.signal,
      this.#closing.signal,
      AbortSignal.timeout(limits.shell.createMs),
    ])
    const started = this.#bind(session, reservation).then(() => this.#start(session, input, image, canceled))
    // Failures are reported below; `done` only waits for the end.
    this.#pending.set(session.id, { abort, done: started.catch(() => {}) })
    try {
      await started
    } finally {
      this.#pending.delete(session.id)
    }
    this.#options.keys.whenLost(owner, () => void session.stop('deleted'), session.ended)
    return session.record()
  }

  /** Makes a session known in the fleet; afterwards its artifacts are found for as long as they exist. */
  async #bind(session: ShellSession, reservation: string | undefined): Promise<void> {
    const { id, owner, name } = session
    const { bound } = this.#options.config
    try {
      await bound?.bind({ id, kind: 'shell', owner, name }, reservation)
    } catch (error) {
      session.fail('image_error')
      throw error
    }
  }

  /** @throws BaxError `shutting_down`, `conflict` if the name is in use, `too_many_sessions`. */
  #admit({ name }: ShellSessionInput, owner: string | null): void {
    if (this.#closing.signal.aborted) throw new BaxError('shutting_down', 'the engine is shutting down')
    const isUsed = (session: ShellSession) => session.isLive && session.name === name && session.owner === owner
    if (name !== undefined && [...this.#sessions.values()].some(isUsed)) {
      throw new BaxError('conflict', `a shell session is already named ${JSON.stringify(name)}`, {
        hint: 'choose another name, or delete that session first',
        details: [{ path: 'name', message: 'is in use' }],
      })
    }
    if (this.count >= limits.shell.sessions) {
      throw new BaxError('too_many_sessions', `there are already ${limits.shell.sessions} shell sessions`, {
        hint: 'delete one that is no longer needed',
      })
    }
  }

  async #start(session: ShellSession, input: ShellSessionInput, image: string, signal: AbortSignal): Promise<void> {
    try {
      const containers = await this.#options.containers()
      await this.#ensureImage(containers, image, input.pull, signal)
      const container = await containers.create(specOf(session.id, input, image), signal)
      if (signal.aborted) {
        await container.remove()
        throw signal.reason
      }
      session.begin(container)
      this.#tombstones?.note(session.record(), session.owner)
    } catch (error) {
      session.fail(signal.aborted ? 'deleted' : 'image_error')
      if (!signal.aborted || error instanceof BaxError) throw error
      throw this.#cancelError(signal)
    }
  }

  #cancelError({ reason }: AbortSignal): BaxError {
    if (this.#closing.signal.aborted) return new BaxError('shutting_down', 'the engine is shutting down')
    const isLate = (reason as Error | undefined)?.name === 'TimeoutError'
    return isLate
      ? new BaxError('no_capacity', `no container was ready after ${limits.shell.createMs / 1000} s`, { cause: reason })
      : new BaxError('conflict', 'the shell session was canceled before it was ready', { cause: reason })
  }

  async #ensureImage({ images }: ShellContainers, name: string, pull: boolean, signal: AbortSignal): Promise<void> {
    try {
      await images.find(name)
    } catch (error) {
      if (!pull || !(error instanceof BaxError) || error.code !== 'image_not_found') throw error
      if (this.#options.config.home === 'server') {
        throw new BaxError('feature_disabled', 'this server does not pull images', {
          hint: 'ask its operator to pull the image',
        })
      }
      await images.pull(name, { signal })
    }
  }

  async list({ status, limit, cursor }: ShellListInput, { caller }: Call): Promise<ShellList> {
    const seen = [...[...this.#archived().values()].filter(isVisibleTo(caller)), ...this.seenBy(caller)]
    const all = seen.filter((session) => status === undefined || session.status === status)
    const records = all.map((session) => session.record()).toSorted(newestShellFirst)
    const rest = cursor === undefined ? records : records.filter(afterShellCursor(cursor))
    const page = rest.slice(0, limit)
    const last = page.at(-1)
    return { sessions: page, total: all.length, next_cursor: last && rest.length > limit ? shellCursor(last) : null }
  }

  async get(idOrName: string, { caller }: Call): Promise<SessionRecord> {
    return this.#lookUp(idOrName, caller).record()
  }

  async touch(idOrName: string, timeoutSecs: number | undefined, { caller }: Call): Promise<SessionRecord> {
    const session = this.find(idOrName, caller)
    session.touch(timeoutSecs)
    return session.record()
  }

  async kill(idOrName: string, { caller }: Call): Promise<ShellKill> {
    return { killed: await this.find(idOrName, caller).kill() }
  }

  async lease(idOrName: string, graceSecs: number, { caller, signal }: StreamCall): Promise<AsyncIterable<Frame>> {
    const session = this.find(idOrName, caller)
    return leaseOf(session).hold({ graceSecs, signal, ended: session.ended, end: () => void session.stop('deleted') })
  }

  async delete(idOrName: string, { caller }: Call): Promise<void> {
    const session = this.#lookUp(idOrName, caller)
    if (session instanceof ShellTombstone) return
    const pending = this.#pending.get(session.id)
    pending?.abort.abort(new Error('deleted'))
    await pending?.done
    await session.stop('deleted')
  }

  /** Keeps a session that has ended for a while, so that it can still be inspected. */
  #archive(session: ShellSession): void {
    const { id, owner } = session
    this.#tombstones?.note(session.record(), owner)
    const timer = setTimeout(() => {
      this.#sessions.delete(id)
      this.#expiryTimers.delete(timer)
    }, limits.shell.tombstoneMs)
    timer.unref()
    this.#expiryTimers.add(timer)
  }

  /** Ends every session that a fleet considers lost. */
  async endAll(): Promise<void> {
    for (const { abort } of this.#pending.values()) abort.abort(new Error('the worker has lost its lease'))
    await Promise.all([...this.#pending.values()].map(({ done }) => done))
    await Promise.all([...this.#sessions.values()].map((session) => session.stop('engine_lost')))
  }

  /** Ends every session; their containers are closed by their owner. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('shutting down'))
    await Promise.all([...this.#pending.values()].map(({ done }) => done))
    await Promise.all([...this.#sessions.values()].map((session) => session.stop('engine_shutdown')))
    for (const timer of this.#expiryTimers) clearTimeout(timer)
  }
}
