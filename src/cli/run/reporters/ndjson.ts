/** Writes every event of the run as a line of JSON when it happens. */
import type { Reporter, Sink } from './reporter.ts'
import { runOnWire, scriptOnWire, scriptStartOnWire, stepOnWire, stepStartOnWire } from './wire.ts'

export function ndjsonReporter(sink: Sink): Reporter {
  const line = (type: string, facts: object) => sink.write(`${JSON.stringify({ type, ...facts })}\n`)
  return {
    begin: ({ runId, startedAt, scripts }) => line('run.started', { run_id: runId, started_at: startedAt, scripts }),
    scriptStarted: (script) => line('script.started', scriptStartOnWire(script)),
    stepStarted: ({ file: script }, step) => line('step.started', { script, ...stepStartOnWire(step) }),
    stepFinished: ({ file: script }, step) => line('step.finished', { script, ...stepOnWire(step) }),
    scriptFinished(script) {
      // The steps have already been reported one by one.
      const { steps, ...rest } = scriptOnWire(script)
      line('script.finished', { ...rest, steps: steps.length })
    },
    end(run) {
      const { scripts: _, ...rest } = runOnWire(run)
      line('run.finished', rest)
    },
  }
}
