/** One step: its call, its tries, and what is expected of the result. */
import { failureOf, interrupted, type Outcome, perform, type Reach, StepFailure, waitBetween } from './call.ts'
import { checkExpectation } from './expect.ts'
import { checkPicture, PictureFailure, type PictureRules } from './pictures.ts'
import type { CallAction, StepPlan } from './script/plan.ts'
import type { Failure, Picture } from './report.ts'
import { type RunScope, UnresolvedReference } from './script/scope.ts'
import type { Expected } from './script/shape.ts'
import { fieldsOf } from './script/verbs.ts'

export type CallStep = StepPlan & { readonly action: CallAction }

export interface StepTools {
  readonly reach: Reach
  readonly pictures: PictureRules
  readonly signal: AbortSignal
  /** The script's file as a whole path; stored pictures are beside it. */
  readonly script: string
}

/** What came of a step after all its tries. */
export interface StepResult {
  readonly tries: number
  readonly value: unknown
  readonly failure?: Failure
  readonly note?: string
  readonly pictures: readonly Picture[]
}

/** Tries a step as often as it says; never throws for what the step does. */
export async function runStep(step: CallStep, scope: RunScope, tools: StepTools): Promise<StepResult> {
  const { verb } = step.action
  let done: Outcome | undefined
  // An action that has been done is not done again because of what is expected of the page: that alone is checked again.
  const act = async () => {
    const outcome = done ?? (await call(step, scope, tools))
    if (verb.sendsInput && !step.retry.repeatDelivered) done = outcome
    return outcome
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return { tries, ...(await check(step, await act(), scope, tools)) }
    } catch (error) {
      const failure = explain(error, tools.signal)
      const pictures = error instanceof PictureFailure ? error.pictures : []
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

/** Whether a repetition could do something twice: an action has reached the page, or nobody knows what a call has done. */
function mayHaveHappened({ verb }: CallAction, { code, details }: Failure): boolean {
  const { delivered, outcome } = (details ?? {}) as { delivered?: unknown; outcome?: unknown }
  if (delivered !== undefined) return delivered === true
  return !verb.onlyReads && (outcome === 'unknown' || code === 'worker_lost')
}

function explain(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof UnresolvedReference) return { message: error.message, code: 'undefined_reference' }
  if (signal.aborted) return interrupted
  return failureOf(error)
}

function call({ action, timeoutMs }: CallStep, scope: RunScope, { reach, signal }: StepTools): Promise<Outcome> {
  const data = fieldsOf(action.verb, action.data, (template) => scope.fill(template))
  return perform(action, data, reach, { signal, ...(timeoutMs !== undefined && { timeoutMs }) })
}

/** Checks what is expected of the outcome of a step. */
async function check(
  { expect }: CallStep,
  outcome: Outcome,
  scope: RunScope,
  tools: StepTools,
): Promise<Omit<StepResult, 'tries'>> {
  const { complaint } = outcome
  if (complaint && !expect.some(({ pathText }) => ['exit_code', 'timed_out'].includes(pathText)))
    throw new StepFailure(complaint)
  const notes: string[] = []
  const compared: Picture[] = []
  for (const expectation of expect) {
    const expected = scope.fill(expectation.template) as Expected
    notes.push(
      ...(await checkExpectation(expectation, expected, outcome.value, async (picture) => {
        const result = await checkPicture(picture, await pictureFor(outcome, tools), tools.script, tools.pictures)
        compared.push(...result.pictures)
        return result.note
      })),
    )
  }
  const own = outcome.png && compared.length === 0 ? [{ label: 'screenshot', png: outcome.png }] : []
  return { value: outcome.value, pictures: [...own, ...compared], ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** The picture that the step took, or else one of the page as it is now. */
async function pictureFor(outcome: Outcome, { reach, signal }: StepTools): Promise<Uint8Array> {
  if (outcome.png) return outcome.png
  const png = await takePicture(reach, signal)
  if (png) return png
  throw new StepFailure({ message: 'there is no page to take a picture of', code: 'expectation_failed' })
}

/** A page that takes longer to be drawn hangs. */
const pictureMs = 15_000

/** The viewport of the script's session; undefined without one. @throws BaxError when the page cannot be shown. */
export async function takePicture({ client, sessionId }: Reach, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const session_id = sessionId()
  if (session_id === undefined) return undefined
  const commands = [{ command: 'screenshot' }]
  const { results } = await client.runCommands({ session_id, commands, timeout_ms: pictureMs }, { signal })
  const [result] = results
  if (!result?.success)
    throw new StepFailure({ message: result?.error ?? 'no picture', code: result?.code ?? 'internal_error' })
  return Buffer.from(String(result.data?.['screenshot']), 'base64')
}
