/** Every event of the run as a line of JSON, as it happens. */
import type { RunReport, ScriptReport, ScriptStart, StepReport, StepStart } from '../report.ts'
import type { Reporter, Sink } from './reporter.ts'
import { runOnWire, scriptOnWire, scriptStartOnWire, stepOnWire, stepStartOnWire } from './wire.ts'

export class NdjsonReporter implements Reporter {
  readonly #sink: Sink

  constructor(sink: Sink) {
    this.#sink = sink
  }

  begin({ runId, startedAt, scripts }: { runId: string; startedAt: string; scripts: number }): void {
    this.#line('run.started', { run_id: runId, started_at: startedAt, scripts })
  }

  scriptStarted(script: ScriptStart): void {
    this.#line('script.started', scriptStartOnWire(script))
  }

  stepStarted({ file: script }: ScriptStart, step: StepStart): void {
    this.#line('step.started', { script, ...stepStartOnWire(step) })
  }

  stepFinished({ file: script }: ScriptStart, step: StepReport): void {
    this.#line('step.finished', { script, ...stepOnWire(step) })
  }

  scriptFinished(script: ScriptReport): void {
    // Its steps have been told one by one.
    const { steps, ...rest } = scriptOnWire(script)
    this.#line('script.finished', { ...rest, steps: steps.length })
  }

  end(run: RunReport): void {
    const { scripts: _, ...rest } = runOnWire(run)
    this.#line('run.finished', rest)
  }

  #line(type: string, facts: object): void {
    this.#sink.write(`${JSON.stringify({ type, ...facts })}\n`)
  }
}
