/** Runs one script: opens its session, runs its steps and those under `finally`, and reports the results. */
import type { ActionKind } from '../../core/access/approvals.ts'
import { resolve } from 'node:path'
import type { Evidence, EvidenceCollector } from './evidence/collect-evidence.ts'
import { failureOf, type EngineAccess, type EngineTools } from './call.ts'
import { holds, refersTo } from './script/condition.ts'
import { type ScriptSession, openSession } from './script-session.ts'
import type { SnapshotOptions } from './screenshots.ts'
import { type Block, countSteps, type IncludeAction, type ScriptPlan, type StepPlan } from './script/plan.ts'
import { asText } from './script/references.ts'
import { type ScriptReport, type ScriptStart, shortened, type StepReport, type StepStart } from './report.ts'
import type { Reporter } from './reporters/reporter.ts'
import { resolveTemplate, type RunScope, UnresolvedReference } from './script/scope.ts'
import type { SessionFields } from './script/shape.ts'
import { type CallStep, runStep, type StepResult } from './step-run.ts'
import type { HealedSelector } from './heal/update-selectors.ts'

export interface RunnerTools {
  readonly engine: EngineTools
  readonly pictures: SnapshotOptions
  /** Receives events of a running script. */
  readonly observer: Required<Pick<Reporter, 'scriptStarted' | 'stepStarted' | 'stepFinished'>>
  readonly evidence: Evidence
  /** Whether new sessions are recorded for a replay. */
  readonly records: boolean
  /** Whether new sessions have a window. */
  readonly headed: boolean
  /** Actions that wait for a person. */
  readonly confirm: readonly ActionKind[]
  /** Called with the ID of each script's session. */
  readonly onSession?: ((id: string) => void) | undefined
  /** Collects the selectors that matched nothing, of scripts that passed. */
  readonly healed: HealedSelector[]
  readonly cwd: string
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Aborted some time after `signal`, for cleanup. */
  readonly cleanupSignal: AbortSignal
}

/** The position of a step: the names it can refer to, the part of the script, and the iteration of a loop. */
interface Position extends Pick<StepStart, 'phase' | 'item'> {
  readonly scope: RunScope
  /** Name of the `include` that the step belongs to. */
  readonly under?: string
}

export class ScriptRun {
  readonly #plan: ScriptPlan
  readonly #tools: RunnerTools
  readonly #start: ScriptStart
  readonly #reports: StepReport[] = []
  readonly #engine: EngineAccess
  readonly #evidence: EvidenceCollector
  readonly #healed: HealedSelector[] = []
  #session: ScriptSession | undefined
  #failed = false

  constructor(plan: ScriptPlan, attempt: number, tools: RunnerTools) {
    this.#plan = plan
    this.#tools = tools
    const { file, name } = tools.pictures.mask.deep({ file: plan.file, name: plan.name })
    this.#start = { file, name, steps: countSteps(plan.block), attempt }
    const sessionId = () => this.#session?.id
    this.#engine = { ...tools.engine, sessionId, shellId: undefined, strict: plan.strict }
    this.#evidence = tools.evidence(this.#start, this.#engine)
  }

  /** Runs the script. Does not throw: failures are in the report. */
  async run(): Promise<ScriptReport> {
    const { observer, now, pictures } = this.#tools
    const startedAt = now().toISOString()
    const started = performance.now()
    const notes: string[] = []
    let failure: ScriptReport['failure']
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work()
      } catch (error) {
        this.#failed = true
        failure ??= pictures.mask.deep(failureOf(error))
      }
    }
    observer.scriptStarted(this.#start)
    const { block, given, vars } = this.#plan
    const scope = { given, vars, saved: new Map(), items: new Map(), sessionId: this.#engine.sessionId }
    await attempt(async () => {
      await this.#open(scope, notes)
      await this.#block(block, { scope, phase: 'steps' })
    })
    await attempt(
      async () => void notes.push(...(await this.#evidence.end(this.#failed, { steps: this.#reports, failure }))),
    )
    const sessionId = this.#session?.id
    await attempt(() => this.#close())
    // A wrong selector may be the reason for a failure.
    if (!this.#failed) this.#tools.healed.push(...this.#healed)
    return {
      ...this.#start,
      status: this.#failed ? 'failed' : 'passed',
      startedAt,
      durationMs: performance.now() - started,
      sessionId,
      steps: this.#reports,
      failure,
      artifacts: this.#evidence.files,
      notes: pictures.mask.deep(notes),
    }
  }

  async #open(scope: RunScope, notes: string[]): Promise<void> {
    const { session } = this.#plan
    if (!session) return
    const fields = resolveTemplate(session, scope) as Partial<SessionFields>
    this.#session = await openSession(this.#engine, fields, this.#tools)
    this.#tools.onSession?.(this.#session.id)
    if (this.#session.warning) notes.push(this.#session.warning)
    await this.#evidence.begin()
  }

  async #close(): Promise<void> {
    const { cleanupSignal } = this.#tools
    const { ask, shellId } = this.#engine
    try {
      if (shellId !== undefined) await ask('deleteShell', { session_id: shellId }, { signal: cleanupSignal })
    } finally {
      await this.#session?.close(cleanupSignal)
    }
  }

  /** Runs steps until one fails, then those under `finally`. Returns whether to continue after the block. */
  async #block({ steps, finally: last }: Block, position: Position): Promise<boolean> {
    let continues = true
    for (const step of steps) {
      if (continues) continues = await this.#step(step, position)
      else this.#skip(step, position, 'not run: an earlier step failed', true)
    }
    for (const step of last) await this.#step(step, { ...position, phase: 'finally' })
    return continues
  }

  async #step(step: StepPlan, position: Position): Promise<boolean> {
    const { forEach, when } = step
    const { scope } = position
    if (!forEach) return (await this.#once(step, position)).continues
    if (when && !refersTo(when, forEach.as) && !holds(when, scope)) {
      this.#skip(step, position, `when: ${when.source}`)
      return true
    }
    const items = this.#filled(step, position, () => {
      const list = resolveTemplate(forEach.items, scope)
      if (Array.isArray(list)) return [...list]
      throw new UnresolvedReference(`for_each must be a list, not ${asText(list)}`)
    })
    if (!items) return step.continueOnError
    if (items.length === 0) this.#skip(step, position, 'for_each: the list is empty')
    const values: unknown[] = []
    for (const [index, value] of items.entries()) {
      const inner = { ...scope, items: new Map([...scope.items, [forEach.as, value]]) }
      const item = { index: index + 1, of: items.length }
      const done = await this.#once(step, { ...position, scope: inner, item })
      if (!done.continues) return false
      values.push(done.value)
    }
    if (step.save !== undefined) scope.saved.set(step.save, values)
    return true
  }

  /** Returns the result of `fill`; undefined, with a failed step, when a reference has no value. */
  #filled<T>(step: StepPlan, position: Position, fill: () => T): T | undefined {
    try {
      return fill()
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error
      const failure = { message: error.message, code: 'undefined_reference' }
      this.#failed = true
      const start = this.#startOf(step, position)
      this.#report(start, { status: 'failed', durationMs: 0, tries: 0, failure, pictures: [] })
      return undefined
    }
  }

  /** Runs a step once, or one iteration of it. */
  async #once(step: StepPlan, position: Position): Promise<{ continues: boolean; value: unknown }> {
    const { action, when } = step
    if (when && !holds(when, position.scope)) {
      this.#skip(step, position, `when: ${when.source}`)
      return { continues: true, value: null }
    }
    if (action.kind === 'include') {
      const done = await this.#include(step, action, position)
      return { continues: done || step.continueOnError, value: null }
    }
    const result = await this.#call({ ...step, action }, position)
    if (!result.failure && step.save !== undefined && !step.forEach) position.scope.saved.set(step.save, result.value)
    return { continues: !result.failure || step.continueOnError, value: result.value }
  }

  async #include(step: StepPlan, action: IncludeAction, position: Position): Promise<boolean> {
    const { scope } = position
    const vars = this.#filled(step, position, () =>
      Object.fromEntries(action.vars.map(([name, template]) => [name, resolveTemplate(template, scope)])),
    )
    if (!vars) return false
    const under = (step.name && this.#startOf(step, position).name) || position.under
    return this.#block(action.block, { ...position, scope: { ...scope, vars: { ...scope.vars, ...vars } }, under })
  }

  async #call(step: CallStep, position: Position): Promise<StepResult> {
    const { cwd, observer, pictures, signal, cleanupSignal } = this.#tools
    const start = this.#startOf(step, position)
    observer.stepStarted(this.#start, start)
    const started = performance.now()
    const result = await runStep(step, {
      engine: this.#engine,
      scope: position.scope,
      pictures,
      signal: position.phase === 'finally' ? cleanupSignal : signal,
      script: resolve(cwd, step.place.file),
    })
    const durationMs = performance.now() - started
    const { failure, healed, note, tries, value } = result
    const at = step.action.selectorAt
    if (healed && at) this.#healed.push({ file: resolve(cwd, step.place.file), at, ...healed })
    const shown = failure && !this.#failed ? await this.#evidence.failed(start, result.pictures) : []
    if (failure) this.#failed = true
    this.#report(start, {
      status: failure ? 'failed' : 'passed',
      durationMs,
      tries,
      ...(failure ? { failure } : { value }),
      note,
      pictures: [...result.pictures, ...shown],
    })
    return result
  }

  #skip(step: StepPlan, position: Position, note: string, silent = false): void {
    const start = this.#startOf(step, position)
    this.#report(start, { status: 'skipped', durationMs: 0, tries: 0, note, pictures: [] }, silent)
  }

  #startOf({ number, name, label, place }: StepPlan, { scope, phase, item, under }: Position): StepStart {
    let shown = label
    try {
      if (name) shown = asText(resolveTemplate(name, scope))
    } catch (error) {
      // Fall back to the label; missing references in the data of the step fail it separately.
      if (!(error instanceof UnresolvedReference)) throw error
    }
    const { mask } = this.#tools.pictures
    const full = under === undefined ? shown : `${under}: ${shown}`
    return { number, name: mask.text(full), place: { ...place, file: mask.text(place.file) }, phase, item }
  }

  #report(start: StepStart, rest: Omit<StepReport, keyof StepStart>, silent = false): void {
    const { durationMs, tries, pictures, status, ...facts } = rest
    // Mask before shortening: a truncated text could contain half of a secret.
    const shown = shortened(this.#tools.pictures.mask.deep(facts)) as typeof facts
    const report: StepReport = { ...start, status, durationMs, tries, ...shown, pictures }
    this.#reports.push(report)
    if (!silent) this.#tools.observer.stepFinished(this.#start, report)
  }
}
