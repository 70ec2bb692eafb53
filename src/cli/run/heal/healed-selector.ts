/** Finds the element of a recorded step by its fingerprint when the selector no longer matches. */
import { mappingOf } from '../../../core/text/is-mapping.ts'
import type { CommandResult } from '../../../core/shapes/commands.ts'
import type { Candidate } from '../../../core/shapes/recording.ts'
import { type EngineAccess, StepFailure } from '../call.ts'
import type { StepPlan } from '../script/plan.ts'

/**
 * Returns the selector of the one element that fits the fingerprint; undefined when the failure has another cause, or
 * when nothing fits.
 * @throws StepFailure `ambiguous_selector` when several elements fit
 */
export async function healedSelector(
  { fingerprint }: Pick<StepPlan, 'fingerprint'>,
  { selector }: Readonly<Record<string, unknown>>,
  error: unknown,
  { ask, sessionId, strict }: EngineAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!fingerprint || strict || typeof selector !== 'string' || !(error instanceof StepFailure)) return undefined
  const { code, details } = error.failure
  if (code !== 'element_not_found' || mappingOf(details)['selector'] !== selector) return undefined
  const commands = [{ command: 'find_similar', data: { selector, fingerprint } }]
  const { results } = await ask('runCommands', { session_id: sessionId(), commands }, { signal, strict: true })
  const candidates = candidatesIn(results[0])
  if (candidates.length < 2) return candidates[0]?.selector
  const names = candidates.map((one) => `${one.element} (${one.selector})`).join(', ')
  throw new StepFailure({
    message: `${selector} matches nothing, and ${candidates.length} elements fit its fingerprint: ${names}`,
    code: 'ambiguous_selector',
    details: { selector, matched: 0, candidates },
  })
}

const candidatesIn = (result: CommandResult | undefined) => (result?.data?.['candidates'] ?? []) as Candidate[]

/** Time for an element to appear before it is looked for by its fingerprint, in milliseconds. */
const appearsMs = 1000
/** Time for a page to come to rest, in milliseconds. */
const restMs = 3000

/**
 * Returns the selector of the one element that fits the fingerprint, before the timeout of the step: the page is at rest,
 * and the selector of the step matches nothing. Undefined while the page may still change, or when several elements fit.
 */
export async function selectorAtRest(
  { fingerprint }: Pick<StepPlan, 'fingerprint'>,
  { selector }: Readonly<Record<string, unknown>>,
  { ask, reportingControl, sessionId, strict }: EngineAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!fingerprint || strict || typeof selector !== 'string') return undefined
  const session_id = sessionId()
  const run = async (commands: { command: string; data: Record<string, unknown> }[]) => {
    const asking = ask('runCommands', { session_id, commands }, { signal, strict: true })
    return (await reportingControl(session_id, asking)).results
  }
  const appears = { command: 'wait_for', data: { selector, state: 'attached', timeout_ms: appearsMs } }
  const [seen] = await run([appears])
  if (seen?.code !== 'element_not_found') return undefined
  const [, , similar] = await run([
    { command: 'wait_for', data: { load: 'networkidle', timeout_ms: restMs } },
    { command: 'wait_for', data: { selector, state: 'detached', timeout_ms: 100 } },
    { command: 'find_similar', data: { selector, fingerprint } },
  ])
  const [only, ...others] = candidatesIn(similar)
  return others.length === 0 ? only?.selector : undefined
}
