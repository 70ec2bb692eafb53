/** Browser sessions: creates, finds, drives and ends them. */
import type { Call, Frame, StreamCall } from '../../../core/operation/call.ts'
import { assertConfirms } from '../../../core/access/approvals.ts'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import type { Names } from '../../../core/access/relayed.ts'
import { Quota } from '../../../core/access/quota.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import type { Sessions } from '../../../core/engine.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Link } from '../../../core/net/link.ts'
import type { CommandBatch, CommandsResult } from '../../../core/shapes/commands.ts'
import type { LiveViewLink } from '../../../core/shapes/live-view.ts'
import type { Observation, ObserveRequest, StepRequest, StepResult } from '../../../core/shapes/observe.ts'
import {
  type ProvisionRecord,
  type SessionCreated,
  type SessionInput,
  type SessionRecord,
  sessionInput,
} from '../../../core/shapes/session.ts'
import type { CredentialStore, ProfileStore } from '../../../core/stores.ts'
import type { Egress } from '../../egress/egress.ts'
import { assertCanHold } from '../approvals/approvals.ts'
import { followSession } from '../live/follow.ts'
import { browserTombstones } from './tombstone.ts'
import { TombstoneStore } from '../../store/tombstones.ts'
import { runQueued, unlessControlled } from '../live/control-wait.ts'
import { observeSession } from '../observe/observe.ts'
import { refuseStep, runStep } from '../batch/step.ts'
import { createdRecord, openOnRemote, openOnSlot, type OpeningTools, withQuota } from '../create/opening.ts'
import { newestFirst } from '../../../core/newest-first.ts'
import type { KeyShares } from '../shares/key-shares.ts'
import { planSession, type SessionPlan } from '../create/plan.ts'
import { Pool } from '../pool/pool.ts'
import {
  bindProvision,
  openedUnless,
  type Provisioning,
  Provisions,
  lostLeaseError,
  shuttingDownError,
  queueFullError,
} from '../create/provision.ts'
import { closeSession, finishInput } from './close.ts'
import { saveProfile } from './save-profile.ts'
import { assertLive, isLive, SessionRegistry } from './registry.ts'
import { type BatchTools, isAnswer, runBatch } from '../batch/run-batch.ts'
import type { LiveSession, LiveSessions, OpenedSession } from '../ports/session.ts'
import { pick } from '../../../core/pick.ts'
import { succeeds } from '../../../core/succeeds.ts'

export interface BrowserSessionsFacts {
  readonly config: EngineConfig
  readonly egress: Egress
  readonly profiles: Pick<ProfileStore, 'load' | 'update'>
  readonly credentials: Pick<CredentialStore, 'use'>
  /** Sessions end when the key that created them expires or is revoked. */
  readonly keys: KeyRing
  readonly tools: BatchTools
  readonly shares: KeyShares
  readonly relays: Names
}

export class BrowserSessions implements Omit<Sessions, 'lease'>, LiveSessions {
  readonly pool: Pool
  readonly #facts: BrowserSessionsFacts
  readonly #registry: SessionRegistry
  readonly #provisions = new Provisions()
  readonly hasName: Names['hasName'] = (name, owner) => this.#registry.hasName(name, owner)
  readonly live: SessionRegistry['findLive'] = (id, caller) => this.#registry.findLive(id, caller)
  readonly recorded: SessionRegistry['findRecorded'] = (id, caller) => this.#registry.findRecorded(id, caller)
  readonly record: Sessions['record'] = async (id, action, { caller }) =>
    (await import('../script-recorder/recordings.ts')).recordSession(this.live(id, caller), action)
  readonly script: Sessions['script'] = async (id, request, { caller }) =>
    (await import('../journal/session-script.ts')).sessionScript(this.live(id, caller), request)
  readonly #opening: OpeningTools
  readonly #quota: Quota
  #closed = false

  constructor(facts: BrowserSessionsFacts) {
    this.#facts = facts
    this.#quota = new Quota('sessions', facts.config.allowances)
    // Other processes never ask about the sessions of an embedded engine.
    const { config, egress, shares, relays } = facts
    const tombstones = config.home === 'embedded' ? undefined : new TombstoneStore(browserTombstones, config)
    this.#registry = new SessionRegistry(Date.now, tombstones, relays)
    this.pool = new Pool(config, egress, shares)
    this.#opening = {
      ...pick(facts, ['config', 'egress', 'credentials']),
      beforeClose: (session) => saveProfile(session, facts),
      onOpened: (session) => {
        this.#registry.add(session)
        facts.keys.whenLost(session.owner, () => session.endLater('deleted'), session.ended)
      },
      onEnded: (session) => this.#registry.retire(session),
      onGone: (session) => this.#registry.archive(session),
    }
  }

  get count(): number {
    return this.#registry.live.length
  }

  get provisioning(): number {
    return this.#provisions.underWay
  }

  /** Number of batches that wait in the queues of sessions. */
  get waitingBatches(): number {
    return this.#registry.live.reduce((sum, session) => sum + session.queue.waiting, 0)
  }

  async create(input: SessionInput, call: Call): Promise<SessionCreated> {
    const made = await this.#openOrQueue(input, call)
    if ('provision' in made) {
      await bindProvision(this.#facts.config, made)
      return { status: 'provisioning', provision_id: made.provision.id }
    }
    return createdRecord(made, call)
  }

  async list({ status }: { status?: SessionRecord['status'] | 'all' }, call: Call): Promise<SessionRecord[]> {
    const { live, ended } = this.#registry
    const seen = [...live, ...ended].filter(({ owner }) => canSee(call.caller, owner))
    const records = await Promise.all(seen.map((session) => session.record(call)))
    const selected = records.filter((record) => {
      if (status === undefined) return record.ended_at === null
      return status === 'all' || record.status === status
    })
    return selected.toSorted(newestFirst)
  }

  async get(sessionId: string, call: Call): Promise<SessionRecord> {
    return this.#registry.find(sessionId, call.caller).record(call)
  }

  async close(sessionId: string, { caller, signal }: Call): Promise<void> {
    await closeSession(this.#registry.find(sessionId, caller), signal)
  }

  async closeOwn(call: Call): ReturnType<Sessions['closeOwn']> {
    const provisions = this.#provisions.cancelOwn(call.caller.keyId)
    const own = this.#registry.live.filter(({ owner }) => owner === call.caller.keyId)
    await Promise.all(own.map((session) => closeSession(session, call.signal)))
    return { sessions: (await Promise.all(own.map((one) => one.record(call)))).toSorted(newestFirst), provisions }
  }

  async provision(provisionId: string, call: Call): Promise<ProvisionRecord> {
    return this.#provisions.find(provisionId, call.caller).record(call)
  }

  async cancelProvision(provisionId: string, { caller }: Call): Promise<void> {
    this.#provisions.find(provisionId, caller).cancel()
  }

  async runCommands(batch: CommandBatch, call: Call): Promise<CommandsResult> {
    const { session, warning } = await this.#sessionFor(batch, call)
    const run = (signal: AbortSignal) => runBatch(session, batch, { ...this.#facts.tools, caller: call.caller }, signal)
    // The answer to a dialog must not wait for the command that the dialog blocks.
    const outcome = await (isAnswer(batch) && session.dialogs.answerable
      ? session.use(() => run(call.signal))
      : runQueued(session, call, batch, () => run(call.signal)).catch(unlessControlled(run)))
    session.countCommands(outcome.results.filter(({ skipped }) => !skipped).length)
    return { ...outcome, session_id: session.sessionId, ...(warning && { warning }) }
  }

  async observe(request: ObserveRequest, call: Call): Promise<Observation> {
    const session = this.#registry.findLive(request.session_id, call.caller)
    return runQueued(session, call, {}, () => observeSession(session, request, call.signal))
  }

  async step(request: StepRequest, call: Call): Promise<StepResult> {
    const { session, warning } = await this.#sessionFor(request, call)
    const run = () => runStep(session, request, { ...this.#facts.tools, caller: call.caller }, call.signal)
    const refuse = (signal: AbortSignal) => refuseStep(session, request, this.#facts.tools, signal)
    const outcome = await runQueued(session, call, request, run).catch(unlessControlled(refuse))
    session.countCommands(outcome.results.filter(({ skipped }) => !skipped).length)
    const joined = [warning, outcome.warning].filter(Boolean).join('; ')
    return { ...outcome, session_id: session.sessionId, ...(joined && { warning: joined }) }
  }

  async follow(request: Parameters<Sessions['follow']>[0], call: StreamCall): Promise<AsyncIterable<Frame> | null> {
    const { session_id: sessionId, token = null } = request
    const session = this.#registry.findForWatching(sessionId, token, call.caller)
    session.tokens.assertFollows(token ?? '')
    return isLive(session) ? followSession(session, request, call) : null
  }

  async openClient(sessionId: string, token: string | null, { caller }: Call): Promise<(link: Link) => void> {
    // Callers without a key need the token even if the engine uses no keys: the URL alone grants no access.
    const shown = caller.keyId === null ? (token ?? '') : token
    const session =
      this.#registry.redeemTicket(sessionId, shown ?? '') ?? this.#registry.findForWatching(sessionId, shown, caller)
    assertLive(session)
    return (await import('./session-cdp.ts')).openClient(session, shown)
  }

  async ticket(sessionId: string, { caller }: Call): Promise<string> {
    return this.#registry.issueTicket(sessionId, caller)
  }

  async openLiveView(sessionId: string, token: string | null, { caller }: Call): Promise<(link: Link) => void> {
    const shown = caller.keyId === null ? (token ?? '') : token
    const session = this.#registry.findForWatching(sessionId, shown, caller)
    assertLive(session)
    return (await import('../live/viewer.ts')).openLiveView(session, shown)
  }

  async linkLiveView(sessionId: string, control: boolean, call: Call): Promise<LiveViewLink> {
    return (await import('../live/viewer.ts')).linkLiveView(this.live(sessionId, call.caller), control, call)
  }

  /** Returns whether the ID or name belongs to a session, live or ended; the name of an ended one is free for others. */
  knows(idOrName: string, caller: Caller): boolean {
    return this.#registry.has(idOrName, caller)
  }

  /** Returns the live sessions that the caller sees. */
  readonly seenBy = ({ caller }: Call) => this.#registry.live.filter(({ owner }) => canSee(caller, owner))

  /** Ends everything that a fleet considers lost. */
  async endAll(): Promise<void> {
    this.#provisions.cancelAll(lostLeaseError())
    await Promise.all(this.#registry.live.map((session) => session.end('worker_lost')))
  }

  async shutDown(): Promise<void> {
    this.#closed = true
    this.#provisions.cancelAll(shuttingDownError())
    const { live } = this.#registry
    await Promise.all(live.map((session) => finishInput(session)))
    await Promise.all(live.filter(({ input }) => input.save_profile).map((session) => session.end('engine_closed')))
    // The other contexts close with their browsers.
    await Promise.all([this.pool.close(), ...this.#registry.live.map((session) => session.end('engine_closed'))])
  }

  async #sessionFor(
    { session_id: id, headless, confirm }: Omit<CommandBatch, 'commands'>,
    call: Call,
  ): Promise<{ session: LiveSession; warning?: string }> {
    const session = id === undefined ? undefined : this.live(id, call.caller)
    if (session) assertConfirms(session.input.confirm, confirm)
    if (session) return { session }
    const made = await this.#openOrQueue(sessionInput.parse({ headless, confirm }), call)
    return 'provision' in made ? openedUnless(call.signal, made) : made
  }

  async #openOrQueue(input: SessionInput, call: Call): Promise<OpenedSession | Provisioning> {
    if (this.#closed) throw shuttingDownError()
    return withQuota(this.#quota, call.caller, () => this.#open(input, call))
  }

  async #open(input: SessionInput, call: Call): Promise<OpenedSession | Provisioning> {
    assertCanHold(input, this.#facts.config.home)
    const plan = await planSession(input, {
      call,
      display: this.#facts.config.display,
      verifyTls: this.#facts.config.verifyTls,
      egress: this.#facts.egress,
      profile: (idOrName) => this.#facts.profiles.load(idOrName, call.caller),
      canShow: () => succeeds(this.pool.located.get('headful')),
    })
    const releaseName = this.#registry.reserveName(input.requested_name, call.caller.keyId)
    const opening = { ...this.#opening, reservation: call.reservation }
    if (plan.cdpUrl !== undefined) return this.#unlessGone(openOnRemote(plan, opening), call, releaseName)
    const slot = this.pool.reserve(plan.kind, plan.owner)
    if (!slot) return this.#enqueue(plan, opening, releaseName)
    return this.#unlessGone(openOnSlot(plan, slot, opening), call, releaseName)
  }

  /** Ends the new session if its creator has gone away, since nobody knows its ID. */
  async #unlessGone(work: Promise<OpenedSession>, { signal }: Call, releaseName: () => void): Promise<OpenedSession> {
    try {
      const opened = await work
      if (!signal.aborted && !this.#closed) return opened
      await opened.session.end('deleted')
      throw this.#closed ? shuttingDownError() : signal.reason
    } finally {
      releaseName()
    }
  }

  #enqueue(plan: SessionPlan, opening: OpeningTools, releaseName: () => void): Provisioning {
    if (this.provisioning >= limits.overload.provisions) {
      releaseName()
      throw queueFullError()
    }
    return this.#provisions.begin({
      owner: plan.owner,
      waiting: this.pool.queue(plan.kind, plan.owner),
      open: (slot) => openOnSlot(plan, slot, opening),
      onEnded: releaseName,
    })
  }
}
