/** Runs plain bodies of POST /commands. */
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { failureOf, outcomeOfCommand } from './call.ts'
import type { BodyPlan } from './script/plan.ts'
import { type ScriptReport, shortened, type StepReport } from './report.ts'
import type { RunnerTools } from './runner.ts'
import { openSession } from './script-session.ts'

/** Returns the report, and the response of the engine, if any. */
export async function runBody(
  plan: BodyPlan,
  attempt: number,
  tools: RunnerTools,
): Promise<{ report: ScriptReport; answer?: CommandsResult }> {
  const { evidence, now, observer } = tools
  const { file, name, body, places } = plan
  const startedAt = now().toISOString()
  const started = performance.now()
  const start = { file, name, steps: places.length, attempt }
  observer.scriptStarted(start)
  const facts = { file, name, attempt, startedAt }
  const { session_id: named } = body
  let sessionId = named
  const collector = evidence(start, { ...tools.engine, sessionId: () => sessionId, shellId: undefined, strict: false })
  try {
    return await withSession(body, tools, async (request) => {
      sessionId = request.session_id
      const answer = await tools.engine.ask('runCommands', request, { signal: tools.signal, strict: true })
      const steps = answer.results.map((result, index) => stepOf(plan, result, index))
      const notes = tools.records ? await collector.end(!answer.success, { steps }) : []
      const report: ScriptReport = {
        ...facts,
        artifacts: collector.files,
        notes: [...(answer.warning === undefined ? [] : [answer.warning]), ...notes],
        status: answer.success ? 'passed' : 'failed',
        durationMs: performance.now() - started,
        sessionId: answer.session_id,
        steps,
      }
      return { answer, report }
    })
  } catch (error) {
    const durationMs = performance.now() - started
    const failure = failureOf(error)
    return { report: { ...facts, artifacts: [], notes: [], status: 'failed', durationMs, steps: [], failure } }
  }
}

type Body = BodyPlan['body']

/** Runs commands in the session that they name, or in one that is closed after them, as with scripts. */
async function withSession<T extends { readonly answer: CommandsResult }>(
  { headless, ...body }: Body,
  tools: RunnerTools,
  work: (request: Body) => Promise<T>,
): Promise<T> {
  const { engine, headed, confirm: added, records, cleanupSignal } = tools
  const isNew = body.session_id === undefined
  // Only a session that is created for it can be recorded.
  const own = isNew && records ? await openSession(engine, { headless, confirm: body.confirm }, tools) : undefined
  try {
    const confirm = added.length > 0 ? [...new Set([...(body.confirm ?? []), ...added])] : body.confirm
    const created = isNew && headed ? { headless: false } : { headless }
    const done = await work({ ...body, ...(own ? { session_id: own.id } : created), ...(confirm && { confirm }) })
    if (isNew && !own)
      await engine.ask('closeSession', { session_id: done.answer.session_id }, { signal: cleanupSignal })
    return done
  } finally {
    await own?.close(cleanupSignal)
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
