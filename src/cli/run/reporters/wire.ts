/** Converts reports to JSON with the field names of the HTTP API. */
import {
  type Failure,
  type RunReport,
  type ScriptReport,
  type ScriptStart,
  type StepReport,
  type StepStart,
  succeeded,
  countResults,
} from '../report.ts'

export const stepStartOnWire = ({ number, name, place, phase, item }: StepStart) => ({
  number,
  name,
  ...place,
  phase,
  ...(item && { item }),
})

export const stepOnWire = (step: StepReport) => ({
  ...stepStartOnWire(step),
  status: step.status,
  duration_ms: Math.round(step.durationMs),
  tries: step.tries,
  ...(step.failure && { error: step.failure.message, ...withoutMessage(step.failure) }),
  ...(step.note !== undefined && { note: step.note }),
  ...(step.value !== undefined && { value: step.value }),
})

export const scriptStartOnWire = ({ file, name, attempt, steps }: ScriptStart) => ({ file, name, attempt, steps })

export const scriptOnWire = (script: ScriptReport) => ({
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

export const runOnWire = (run: RunReport) => ({
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
