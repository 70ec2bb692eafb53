/** Runs all scripts in parallel, with retries, and passes the results to the reporters. */
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { runBody } from './body-run.ts'
import type { Plan } from './script/plan.ts'
import type { Reporter } from './reporters/reporter.ts'
import type { RunReport, ScriptReport } from './report.ts'
import { type Observer, type RunnerTools, ScriptRun } from './runner.ts'

export interface SuiteOptions {
  readonly runId: string
  readonly parallel: number
  readonly retries: number
  readonly failFast: boolean
  readonly shard?: RunReport['shard']
  readonly reporters: readonly Reporter[]
  readonly tools: Omit<RunnerTools, 'observer'>
  /** Prints the response to a plain body. */
  readonly showBody?: (answer: CommandsResult) => Promise<void>
}

export class Suite {
  readonly #plans: readonly Plan[]
  readonly #options: SuiteOptions
  readonly #tools: RunnerTools
  #failed = false

  constructor(plans: readonly Plan[], options: SuiteOptions) {
    this.#plans = plans
    this.#options = options
    const { reporters } = options
    const observer: Observer = {
      scriptStarted: (script) => reporters.forEach((reporter) => reporter.scriptStarted?.(script)),
      stepStarted: (script, step) => reporters.forEach((reporter) => reporter.stepStarted?.(script, step)),
      stepFinished: (script, step) => reporters.forEach((reporter) => reporter.stepFinished?.(script, step)),
    }
    this.#tools = { ...options.tools, observer }
  }

  async run(): Promise<RunReport> {
    const { runId, reporters, shard, tools } = this.#options
    const startedAt = tools.now().toISOString()
    const started = performance.now()
    for (const reporter of reporters) reporter.begin?.({ runId, startedAt, scripts: this.#plans.length })
    const scripts = await this.#runAll()
    const durationMs = performance.now() - started
    const report = { runId, startedAt, durationMs, ...(shard && { shard }), scripts }
    for (const reporter of reporters) reporter.end(report)
    return report
  }

  /** Returns the reports in the order of the scripts, not in the order in which they end. */
  async #runAll(): Promise<ScriptReport[]> {
    const reports: ScriptReport[] = []
    const waiting = this.#plans.map((plan, index) => ({ plan, index }))
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        reports[next.index] = await this.#runOne(next.plan)
      }
    }
    const workers = Math.min(this.#options.parallel, this.#plans.length)
    await Promise.all(Array.from({ length: workers }, work))
    return reports
  }

  async #runOne(plan: Plan): Promise<ScriptReport> {
    const { failFast, retries, reporters, tools } = this.#options
    const report =
      (failFast && this.#failed) || tools.signal.aborted ? notRun(plan, tools) : await this.#withRetries(plan, retries)
    if (report.status === 'failed') this.#failed = true
    for (const reporter of reporters) reporter.scriptFinished?.(report)
    return report
  }

  async #withRetries(plan: Plan, retries: number): Promise<ScriptReport> {
    const artifacts: string[] = []
    for (let attempt = 1; ; attempt += 1) {
      const report = await this.#attempt(plan, attempt)
      artifacts.push(...report.artifacts)
      const isLast = report.status !== 'failed' || attempt > retries || this.#tools.signal.aborted
      if (!isLast) continue
      const isFlaky = report.status === 'passed' && attempt > 1
      return { ...report, artifacts, ...(isFlaky && { status: 'flaky' as const }) }
    }
  }

  async #attempt(plan: Plan, attempt: number): Promise<ScriptReport> {
    if (plan.kind === 'script') return new ScriptRun(plan, attempt, this.#tools).run()
    const { report, answer } = await runBody(plan, attempt, this.#tools)
    if (answer) await this.#options.showBody?.(answer)
    return report
  }
}

function notRun(plan: Plan, { now, pictures }: Pick<RunnerTools, 'now' | 'pictures'>): ScriptReport {
  return {
    file: plan.file,
    name: pictures.mask.text(plan.name),
    attempt: 0,
    status: 'skipped',
    startedAt: now().toISOString(),
    durationMs: 0,
    steps: [],
    artifacts: [],
    notes: [pictures.mask.text('not run: the run was stopped')],
  }
}
