/** Runs one step with its retries, and checks its expectations. */
import { failureOf, interrupted, type Outcome, perform, type EngineAccess, StepFailure, waitBetween } from './call.ts'
import { checkExpectation } from './expect.ts'
import { checkScreenshot, ScreenshotFailure, type SnapshotOptions } from './screenshots.ts'
import type { CallAction, StepPlan } from './script/plan.ts'
import type { Failure, Screenshot } from './report.ts'
import { type RunScope, UnresolvedReference } from './script/scope.ts'
import type { Expected } from './script/shape.ts'
import { fieldsOf } from './script/verbs.ts'

export type CallStep = StepPlan & { readonly action: CallAction }

export interface StepTools {
  readonly engine: EngineAccess
  readonly pictures: SnapshotOptions
  readonly signal: AbortSignal
  /** Absolute path of the script; stored screenshots are relative to it. */
  readonly script: string
}

/** The result of a step after all attempts. */
export interface StepResult {
  readonly tries: number
  readonly value: unknown
  readonly failure?: Failure
  readonly note?: string
  readonly pictures: readonly Screenshot[]
}

/** Runs a step and retries it as it declares; never throws for failures of the step. */
export async function runStep(step: CallStep, scope: RunScope, tools: StepTools): Promise<StepResult> {
  const { verb } = step.action
  let done: Outcome | undefined
  // An action that succeeded is not repeated when an expectation fails; only the expectation is checked again.
  const act = async () => {
    const outcome = done ?? (await call(step, scope, tools))
    if (verb.sendsInput && !step.retry.repeatDelivered) done = outcome
    return outcome
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return { tries, ...(await check(step, await act(), scope, tools)) }
    } catch (error) {
      const failure = stepFailureOf(error, tools.signal)
      const pictures = error instanceof ScreenshotFailure ? error.pictures : []
      const isFinal =
        tries > step.retry.count ||
        error instanceof UnresolvedReference ||
        tools.signal.aborted ||
        (mayHaveHappened(step.action, failure) && !step.retry.repeatDelivered)
      if (isFinal) return { tries, value: null, failure, pictures }
    }
    await waitBetween(step.retry.delayMs, tools.signal)
  }
}

/** Whether a retry could repeat an effect: the action reached the page, or the outcome of the call is unknown. */
function mayHaveHappened({ verb }: CallAction, { code, details }: Failure): boolean {
  const { delivered, outcome } = (details ?? {}) as { delivered?: unknown; outcome?: unknown }
  if (delivered !== undefined) return delivered === true
  return !verb.onlyReads && (outcome === 'unknown' || code === 'worker_lost')
}

function stepFailureOf(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof UnresolvedReference) return { message: error.message, code: 'undefined_reference' }
  if (signal.aborted) return interrupted
  return failureOf(error)
}

function call({ action, timeoutMs }: CallStep, scope: RunScope, { engine, signal }: StepTools): Promise<Outcome> {
  const data = fieldsOf(action.verb, action.data, (template) => scope.fill(template))
  return perform(action, data, engine, { signal, ...(timeoutMs !== undefined && { timeoutMs }) })
}

/** Checks the expectations of a step. */
async function check(
  { expect }: CallStep,
  outcome: Outcome,
  scope: RunScope,
  tools: StepTools,
): Promise<Omit<StepResult, 'tries'>> {
  const { programFailure } = outcome
  if (programFailure && !expect.some(({ pathText }) => ['exit_code', 'timed_out'].includes(pathText)))
    throw new StepFailure(programFailure)
  const notes: string[] = []
  const compared: Screenshot[] = []
  for (const expectation of expect) {
    const expected = scope.fill(expectation.template) as Expected
    notes.push(
      ...(await checkExpectation(expectation, expected, outcome.value, async (picture) => {
        const result = await checkScreenshot(picture, await screenshotFor(outcome, tools), tools.script, tools.pictures)
        compared.push(...result.pictures)
        return result.note
      })),
    )
  }
  const own = outcome.png && compared.length === 0 ? [{ label: 'screenshot', png: outcome.png }] : []
  return { value: outcome.value, pictures: [...own, ...compared], ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** Returns the screenshot that the step took, or else takes one. */
async function screenshotFor(outcome: Outcome, { engine, signal }: StepTools): Promise<Uint8Array> {
  if (outcome.png) return outcome.png
  const png = await takeScreenshot(engine, signal)
  if (png) return png
  throw new StepFailure({ message: 'cannot take a screenshot without a session', code: 'expectation_failed' })
}

const screenshotMs = 15_000

/** Takes a screenshot of the script's session; undefined without a session. @throws StepFailure, BaxError */
export async function takeScreenshot(
  { client, sessionId }: EngineAccess,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const session_id = sessionId()
  if (session_id === undefined) return undefined
  const commands = [{ command: 'screenshot' }]
  const { results } = await client.runCommands({ session_id, commands, timeout_ms: screenshotMs }, { signal })
  const [result] = results
  if (!result?.success)
    throw new StepFailure({ message: result?.error ?? 'no screenshot', code: result?.code ?? 'internal_error' })
  return Buffer.from(String(result.data?.['screenshot']), 'base64')
}
