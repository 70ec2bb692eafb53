/** Runs plain bodies of POST /commands. */
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { failureOf, outcomeOfCommand } from './call.ts'
import type { BodyPlan } from './script/plan.ts'
import { type ScriptReport, shortened, type StepReport } from './report.ts'
import type { RunnerTools } from './runner.ts'

/** Returns the report, and the response of the engine, if any. */
export async function runBody(
  plan: BodyPlan,
  attempt: number,
  { engine, headed, confirm, now, observer, signal, cleanupSignal }: RunnerTools,
): Promise<{ report: ScriptReport; answer?: CommandsResult }> {
  const { file, name, body, places } = plan
  const startedAt = now().toISOString()
  const started = performance.now()
  observer.scriptStarted({ file, name, steps: places.length, attempt })
  const facts = { file, name, attempt, startedAt, artifacts: [], notes: [] }
  try {
    const isNew = body.session_id === undefined
    const request = {
      ...body,
      ...(isNew && headed && { headless: false }),
      ...(confirm.length > 0 && { confirm: [...new Set([...(body.confirm ?? []), ...confirm])] }),
    }
    const answer = await engine.ask('runCommands', request, { signal, strict: true })
    // As with scripts, a session that was created for these commands is closed after them.
    if (isNew) await engine.ask('closeSession', { session_id: answer.session_id }, { signal: cleanupSignal })
    return {
      answer,
      report: {
        ...facts,
        notes: answer.warning === undefined ? [] : [answer.warning],
        status: answer.success ? 'passed' : 'failed',
        durationMs: performance.now() - started,
        sessionId: answer.session_id,
        steps: answer.results.map((result, index) => stepOf(plan, result, index)),
      },
    }
  } catch (error) {
    const durationMs = performance.now() - started
    return { report: { ...facts, status: 'failed', durationMs, steps: [], failure: failureOf(error) } }
  }
}

function stepOf({ places }: BodyPlan, result: CommandsResult['results'][number], index: number): StepReport {
  const { success, skipped, command, duration_ms = 0, error = 'failed', code = 'action_failed' } = result
  const start = { number: String(index + 1), name: command, place: places[index]!, phase: 'steps' as const }
  if (skipped) return { ...start, status: 'skipped', durationMs: 0, tries: 0, note: error, pictures: [] }
  const { value, png } = outcomeOfCommand(result)
  return {
    ...start,
    status: success ? 'passed' : 'failed',
    durationMs: duration_ms,
    tries: 1,
    ...(success ? { value: shortened(value) } : { failure: { message: error, code } }),
    pictures: png ? [{ label: 'screenshot', png }] : [],
  }
}
