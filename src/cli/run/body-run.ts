/** Runs plain bodies of POST /commands. */
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { failureOf, outcomeOfCommand } from './call.ts'
import type { BodyPlan } from './script/plan.ts'
import { type ScriptReport, shortened, type StepReport } from './report.ts'
import type { RunnerTools } from './runner.ts'

/** The report, and the response of the engine. */
export interface BodyRun {
  readonly report: ScriptReport
  readonly answer?: CommandsResult
}

export async function runBody(plan: BodyPlan, attempt: number, tools: RunnerTools): Promise<BodyRun> {
  const { client, now, observer, signal, cleanupSignal } = tools
  const { file, name, body, places } = plan
  const startedAt = now().toISOString()
  const started = performance.now()
  observer.scriptStarted({ file, name, steps: places.length, attempt })
  const facts = { file, name, attempt, startedAt, artifacts: [], notes: [] }
  try {
    const answer = await client.runCommands(body as Parameters<typeof client.runCommands>[0], { signal, strict: true })
    // As with scripts, a session that was created for these commands is closed after them.
    if (body['session_id'] === undefined)
      await client.closeSession({ session_id: answer.session_id }, { signal: cleanupSignal })
    return {
      answer,
      report: {
        ...facts,
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
