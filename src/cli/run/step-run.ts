/** Runs one step with its retries, and checks its expectations. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { limits as coreLimits } from '../../core/limits/limits.ts'
import { failureOf, interrupted, type Outcome, perform, type EngineAccess, StepFailure } from './call.ts'
import { checkExpectation } from './expect.ts'
import { healedSelector, selectorAtRest } from './heal/healed-selector.ts'
import { checkScreenshot, type Comparison, ScreenshotFailure, type SnapshotOptions } from './screenshots.ts'
import type { CallAction, StepPlan } from './script/plan.ts'
import type { Failure, Screenshot } from './report.ts'
import { resolveTemplate, type RunScope, UnresolvedReference } from './script/scope.ts'
import type { Expected } from './script/shape.ts'
import { fieldsOf } from './script/verbs.ts'

export type CallStep = StepPlan & { readonly action: CallAction }

interface StepTools {
  readonly scope: RunScope
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
  /** Set when the selector of the step matches nothing, and that of another element was used. */
  readonly healed?: Outcome['healed']
  readonly pictures: readonly Screenshot[]
}

/** Runs a step and retries it as it declares; never throws for failures of the step. */
export async function runStep(step: CallStep, tools: StepTools): Promise<StepResult> {
  const { verb } = step.action
  let done: Outcome | undefined
  // An action that succeeded is not repeated when an expectation fails; only the expectation is checked again.
  const act = async () => {
    const outcome = done ?? (await call(step, tools))
    if (verb.sendsInput && !step.retry.repeat_delivered) done = outcome
    return outcome
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return { tries, ...(await check(step, await act(), tools)) }
    } catch (error) {
      const failure = stepFailureOf(error, tools.signal)
      const pictures = error instanceof ScreenshotFailure ? error.pictures : []
      const isFinal =
        tries > step.retry.count ||
        error instanceof UnresolvedReference ||
        tools.signal.aborted ||
        (mayHaveHappened(step.action, failure) && !step.retry.repeat_delivered)
      if (isFinal) return { tries, value: null, failure, pictures }
    }
    // After an interrupt, the next attempt reports it.
    await pause(step.retry.delay_ms, undefined, { signal: tools.signal }).catch(() => {})
  }
}

/** Whether a retry could repeat an effect: the action reached the page, or the outcome of the call is unknown. */
function mayHaveHappened({ verb }: CallAction, { code, details }: Failure): boolean {
  const { delivered, outcome } = mappingOf(details)
  if (delivered !== undefined) return delivered === true
  return !verb.onlyReads && (outcome === 'unknown' || code === 'worker_lost')
}

function stepFailureOf(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof UnresolvedReference) return { message: error.message, code: 'undefined_reference' }
  if (signal.aborted) return interrupted
  return failureOf(error)
}

async function call(step: CallStep, { engine, scope, signal }: StepTools): Promise<Outcome> {
  const { action, timeoutMs } = step
  const data = fieldsOf(action.verb, action.data, (template) => resolveTemplate(template, scope))
  const limits = { signal, timeoutMs }
  const onHealed = async (selector: string): Promise<Outcome> => {
    const outcome = await perform(action, { ...data, selector }, engine, limits)
    return { ...outcome, healed: { from: String(data['selector']), to: selector } }
  }
  const early = action.verb.sendsInput ? await selectorAtRest(step, data, engine, signal) : undefined
  if (early !== undefined) return onHealed(early)
  try {
    return await (step.fingerprint ? performOnOne(action, data, engine, limits) : perform(action, data, engine, limits))
  } catch (error) {
    const healed = await healedSelector(step, data, error, engine, signal)
    if (healed === undefined) throw error
    return onHealed(healed)
  }
}

/** Interval of attempts to find only one element, in milliseconds. */
const ambiguousMs = 100

/** Runs a recorded step, whose selector matched one element: waits while it matches several, such as rows before a filter. */
async function performOnOne(
  action: CallAction,
  data: Record<string, unknown>,
  engine: EngineAccess,
  limits: Parameters<typeof perform>[3],
): Promise<Outcome> {
  const end = performance.now() + (limits.timeoutMs ?? coreLimits.command.elementMs)
  for (;;) {
    const isLast = performance.now() >= end
    try {
      return await perform(action, data, isLast ? engine : { ...engine, strict: true }, limits)
    } catch (error) {
      if (isLast || failureOf(error).code !== 'ambiguous_selector') throw error
      await pause(ambiguousMs, undefined, { signal: limits.signal }).catch(() => {})
    }
  }
}

/** Checks the expectations of a step. */
async function check({ expect }: CallStep, outcome: Outcome, tools: StepTools): Promise<Omit<StepResult, 'tries'>> {
  const { programFailure } = outcome
  if (programFailure && !expect.some(({ pathText }) => ['exit_code', 'timed_out'].includes(pathText)))
    throw new StepFailure(programFailure)
  const comparisons: Comparison[] = []
  for (const expectation of expect) {
    const expected = resolveTemplate(expectation.template, tools.scope) as Expected
    checkExpectation(expectation, expected, outcome.value)
    if (expected.screenshot === undefined) continue
    const png = await screenshotFor(outcome, tools)
    comparisons.push(await checkScreenshot(expected.screenshot, png, tools.script, tools.pictures))
  }
  const compared = comparisons.flatMap(({ pictures }) => pictures)
  const own = outcome.png && compared.length === 0 ? [{ label: 'screenshot', png: outcome.png }] : []
  const healed = outcome.healed ? [healedNote(outcome.healed)] : []
  const notes = [...healed, ...(outcome.notes ?? []), ...comparisons.flatMap(({ note = [] }) => note)]
  const note = notes.join('; ') || undefined
  return { value: outcome.value, pictures: [...own, ...compared], note, healed: outcome.healed }
}

const healedNote = ({ from, to }: NonNullable<Outcome['healed']>) =>
  `warning: ${from} matches nothing; used the element with the same fingerprint: ${to}`

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
  { ask, sessionId }: EngineAccess,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const session_id = sessionId()
  if (session_id === undefined) return undefined
  const commands = [{ command: 'screenshot' }]
  const { results } = await ask('runCommands', { session_id, commands, timeout_ms: screenshotMs }, { signal })
  const [result] = results
  if (!result?.success)
    throw new StepFailure({ message: result?.error ?? 'no screenshot', code: result?.code ?? 'internal_error' })
  return Buffer.from(String(result.data?.['screenshot']), 'base64')
}
