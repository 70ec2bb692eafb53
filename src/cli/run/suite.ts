/** Runs all scripts in parallel, with retries, and passes the results to the reporters. */
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { runBody } from './body-run.ts'
import type { Plan } from './script/plan.ts'
import type { Reporter } from './reporters/reporter.ts'
import type { RunReport, ScriptReport } from './report.ts'
import { type RunnerTools, ScriptRun } from './runner.ts'
import type { RunOptions } from './options.ts'

export interface SuiteOptions extends Pick<RunOptions, 'parallel' | 'retries' | 'failFast' | 'shard'> {
  readonly runId: string
  readonly reporters: readonly Reporter[]
  readonly tools: Omit<RunnerTools, 'observer'>
  /** Prints the response to a plain body. */
  readonly showBody?: (answer: CommandsResult) => Promise<void>
}

/** Runs the plans; the reports are in their order, not in the order in which they end. */
export async function runSuite(plans: readonly Plan[], options: SuiteOptions): Promise<RunReport> {
  const { runId, reporters, shard } = options
  const tools: RunnerTools = {
    ...options.tools,
    observer: {
      scriptStarted: (script) => reporters.forEach((reporter) => reporter.scriptStarted?.(script)),
      stepStarted: (script, step) => reporters.forEach((reporter) => reporter.stepStarted?.(script, step)),
      stepFinished: (script, step) => reporters.forEach((reporter) => reporter.stepFinished?.(script, step)),
    },
  }
  const startedAt = tools.now().toISOString()
  const started = performance.now()
  for (const reporter of reporters) reporter.begin?.({ runId, startedAt, scripts: plans.length })
  const scripts: ScriptReport[] = []
  const waiting = [...plans.entries()]
  let failed = false
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, plan] = next
      const isStopped = (options.failFast && failed) || tools.signal.aborted
      const report = isStopped ? notRun(plan, tools) : await withRetries(plan, tools, options)
      failed ||= report.status === 'failed'
      for (const reporter of reporters) reporter.scriptFinished?.(report)
      scripts[index] = report
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.parallel, plans.length) }, work))
  const report = { runId, startedAt, durationMs: performance.now() - started, shard, scripts }
  for (const reporter of reporters) reporter.end(report)
  return report
}

async function withRetries(plan: Plan, tools: RunnerTools, options: SuiteOptions): Promise<ScriptReport> {
  const artifacts: string[] = []
  for (let attempt = 1; ; attempt += 1) {
    const report = await runOnce(plan, attempt, tools, options)
    artifacts.push(...report.artifacts)
    if (report.status === 'failed' && attempt <= options.retries && !tools.signal.aborted) continue
    const isFlaky = report.status === 'passed' && attempt > 1
    return { ...report, artifacts, ...(isFlaky && { status: 'flaky' }) }
  }
}

async function runOnce(plan: Plan, attempt: number, tools: RunnerTools, { showBody }: SuiteOptions) {
  if (plan.kind === 'script') return new ScriptRun(plan, attempt, tools).run()
  const { report, answer } = await runBody(plan, attempt, tools)
  if (answer) await showBody?.(answer)
  return report
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
