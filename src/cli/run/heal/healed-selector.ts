/** Finds the element of a recorded step by its fingerprint when the selector no longer matches. */
import { mappingOf } from '../../../core/text/is-mapping.ts'
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
  const candidates = (results[0]?.data?.['candidates'] ?? []) as Candidate[]
  if (candidates.length < 2) return candidates[0]?.selector
  const names = candidates.map((one) => `${one.element} (${one.selector})`).join(', ')
  throw new StepFailure({
    message: `${selector} matches nothing, and ${candidates.length} elements fit its fingerprint: ${names}`,
    code: 'ambiguous_selector',
    details: { selector, matched: 0, candidates },
  })
}
