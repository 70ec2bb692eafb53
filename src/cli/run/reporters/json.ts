/** Writes the run as JSON with the field names of the HTTP API: one object at its end, or a line for every event. */
import {
  type Failure,
  type RunReport,
  type ScriptReport,
  type StepReport,
  type StepStart,
  succeeded,
  countResults,
} from '../report.ts'
import type { Reporter, Sink } from './reporter.ts'

/** Writes the whole run as one JSON object at its end. */
export const jsonReporter = (sink: Sink): Reporter => ({
  end: (run) => sink.write(`${JSON.stringify(runOnWire(run), null, 2)}\n`),
})

/** Writes every event of the run as a line of JSON when it happens. */
export function ndjsonReporter(sink: Sink): Reporter {
  const line = (type: string, facts: object) => sink.write(`${JSON.stringify({ type, ...facts })}\n`)
  return {
    begin: ({ runId, startedAt, scripts }) => line('run.started', { run_id: runId, started_at: startedAt, scripts }),
    scriptStarted: ({ file, name, attempt, steps }) => line('script.started', { file, name, attempt, steps }),
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

const stepStartOnWire = ({ number, name, place, phase, item }: StepStart) => ({
  number,
  name,
  ...place,
  phase,
  ...(item && { item }),
})

const stepOnWire = (step: StepReport) => ({
  ...stepStartOnWire(step),
  status: step.status,
  duration_ms: Math.round(step.durationMs),
  tries: step.tries,
  ...(step.failure && { error: step.failure.message, ...withoutMessage(step.failure) }),
  ...(step.note !== undefined && { note: step.note }),
  ...(step.value !== undefined && { value: step.value }),
})

const scriptOnWire = (script: ScriptReport) => ({
  file: script.file,
  name: script.name,
  status: script.status,
  attempt: script.attempt,
  started_at: script.startedAt,
  duration_ms: Math.round(script.durationMs),
  ...(script.sessionId !== undefined && { session_id: script.sessionId }),
  ...(script.failure && { error: script.failure.message, ...withoutMessage(script.failure) }),
  steps: script.steps.map(stepOnWire),
  artifacts: script.artifacts,
  notes: script.notes,
})

const runOnWire = (run: RunReport) => ({
  run_id: run.runId,
  success: succeeded(run),
  started_at: run.startedAt,
  duration_ms: Math.round(run.durationMs),
  ...(run.shard && { shard: run.shard }),
  totals: countResults(run),
  scripts: run.scripts.map(scriptOnWire),
})

/** Omits the message, which is reported as `error`. */
const withoutMessage = ({ code, expected, actual, details }: Failure) => ({ code, expected, actual, details })
