/** Why an action on an element failed, in one sentence and in fields. */
import type { Locator, Page } from 'playwright'
import type { ActOptions } from '../../../core/operation/command.ts'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ElementState } from './diagnose.page.ts'
import diagnoseScript from './diagnose.page.ts?inline'
import type { Candidate } from './nearest.page.ts'
import { framedMatches } from './framed.ts'
import type { Picked } from './pick.ts'
import nearestScript from './nearest.page.ts?inline'
import { pageFunction } from '../batch/page-function.ts'
import { isGone, translated } from '../batch/playwright-errors.ts'
import { locateAll, type ParsedSelector, parseSelector, rootOf, selectorFault, staleRef } from './selectors.ts'

export interface Failed extends ActOptions {
  readonly page: Page
  readonly selector: string
  readonly timeoutMs: number
  /** The element that the action was given; undefined when none was found. */
  readonly picked?: Picked | undefined
}

/** How long a page may take to say what is wrong with it. */
const diagnosisMs = 2000
/** The same for its frames; one that hangs must not cost what the page itself has said. */
const framesMs = 1000

const stateOf = pageFunction<Element, ElementState>(diagnoseScript, 'stateOf')
const coverAt = pageFunction<Element, string | null>(diagnoseScript, 'coverAt') as (
  element: Element,
  place: { x: number; y: number },
) => string | null
const nearest = pageFunction<Element, Candidate[]>(nearestScript, 'nearest') as (
  root: Element,
  selector: string,
) => Candidate[]

/** Playwright refuses these at once: the element is of the wrong sort. */
const refusals: readonly [RegExp, ErrorCode, string][] = [
  [/Element is not an? <select>/, 'not_editable', 'is not a select element'],
  [/Element is not an <input>|Cannot type text into|cannot be filled|Malformed value/, 'not_editable', 'does not take this text'],
  [/Not a checkbox or radio button/, 'not_editable', 'is not a checkbox or radio button'],
  [/Cannot uncheck radio button/, 'not_editable', 'is a radio button and cannot be unchecked'],
  [/did not change its state/, 'action_failed', 'did not change its state when it was clicked'],
  [/not attached to the DOM|was detached/, 'element_detached', 'left the page during the action'],
] // prettier-ignore

/** The failure of an action in the words of the error table. */
export async function explain(error: unknown, failed: Failed): Promise<BaxError> {
  const { selector } = failed
  const fault = selectorFault(error, selector)
  if (fault) return fault
  const message = error instanceof Error ? error.message : String(error)
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  const refusal = refusals.find(([pattern]) => pattern.test(timedOut ? '' : message))
  if (refusal) {
    const [, code, sentence] = refusal
    return new BaxError(code, `${selector} ${sentence}`, { details: { selector }, cause: error })
  }
  if (!timedOut) return translated(error, selector)
  const found = await diagnose(failed, message)
  if (found) return found
  const also = failed.also === undefined ? undefined : { ...failed, selector: failed.also, picked: undefined }
  const second = also ? await diagnose(also, message) : null
  return second ?? stillBusy(failed, message, error)
}

/** What the page says about the element; null when nothing is wrong with it, or when the page does not answer. */
async function diagnose(failed: Failed, log: string): Promise<BaxError | null> {
  const { page, selector } = failed
  const parsed = parseSelector(selector)
  const all = locateAll(page, parsed)
  const matched = await answered(all.count())
  if (matched === undefined) return null
  if (matched === 0) {
    if (parsed.ref) return staleRef(selector, parsed)
    const [near, answers] = await Promise.all([answered(candidates(page, parsed)), answered(isThere(page))])
    // Playwright counts none where it cannot ask: only of a page that answers does that say anything.
    return answers ? notFound(failed, near) : null
  }
  const { element, which } = (await stillThere(failed.picked)) ?? { element: all.first(), which: 'first' }
  const state = await answered(element.evaluate(stateOf, undefined, { timeout: diagnosisMs }))
  if (!state) return null
  const coveredBy = state.coveredBy ?? (failed.needs === 'pointer' ? await answered(frameCover(page, parsed)) : null)
  const seen = { ...state, coveredBy: coveredBy ?? interceptor(log) }
  return fromState(failed, seen, matched > 1 ? { matched, which } : { matched }, log)
}

/** The element of the action, unless it is hidden or gone by now. */
async function stillThere(picked: Picked | undefined): Promise<Picked | undefined> {
  return picked && ((await answered(picked.element.count())) ?? 0) > 0 ? picked : undefined
}

/** A refusal is an answer too: the page's policy, or a navigation that is under way. */
const isThere = (page: Page): Promise<true> =>
  page.evaluate('0').then(
    () => true,
    () => true,
  )

/** What lies over the frame that an element is in, where it would be clicked; a frame of another site cannot tell. */
async function frameCover(page: Page, parsed: ParsedSelector): Promise<string | null> {
  const [css] = parsed.frames
  const box = css === undefined ? null : await locateAll(page, parsed).first().boundingBox({ timeout: diagnosisMs })
  if (!box) return null
  const frame = locateAll(page, { frames: [], inner: css!, ref: null }).first()
  return frame.evaluate(coverAt, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, { timeout: diagnosisMs })
}

/** Near misses of what was not found: of the frame when that is missing, else of the element in it. */
async function candidates(page: Page, parsed: ParsedSelector): Promise<Candidate[]> {
  for (const [at, css] of parsed.frames.entries()) {
    const outer = { frames: parsed.frames.slice(0, at), ref: null }
    if ((await locateAll(page, { ...outer, inner: css }).count()) > 0) continue
    const near = await nearestIn(rootOf(page, { ...outer, inner: '' }), css)
    return near.map(({ selector, element }) => ({ selector: `frame=${selector}`, element }))
  }
  const near = nearestIn(rootOf(page, parsed), parsed.inner)
  if (parsed.frames.length > 0) return near
  const [framed = [], here] = await Promise.all([answered(framedMatches(page, parsed.inner), framesMs), near])
  return [...framed, ...here]
}

const nearestIn = (root: Locator, selector: string): Promise<Candidate[]> =>
  root.evaluate(nearest, selector, { timeout: diagnosisMs })

/** The answer of the page, or undefined when it navigates, hangs or closes meanwhile: the failure is told without it. */
async function answered<T>(work: Promise<T>, ms = diagnosisMs): Promise<T | undefined> {
  try {
    return await withDeadline(work, { ms, value: undefined })
  } catch (error) {
    if (isGone(error) || (error instanceof Error && error.name === 'TimeoutError')) return undefined
    throw error
  }
}

function notFound({ selector, timeoutMs }: Failed, near: Candidate[] = []): BaxError {
  const names = near.map((candidate) => candidate.selector)
  const closest = names.length > 0 ? ` (closest: ${names.join(', ')})` : ''
  return new BaxError('element_not_found', `no element matches ${selector}${closest}`, {
    details: { selector, matched: 0, candidates: near, waited_ms: timeoutMs },
    ...(names[0] && { hint: `did you mean ${names[0]}?` }),
  })
}

/** How many elements the selector has matched, and which of several was inspected. */
interface Found {
  readonly matched: number
  readonly which?: Picked['which']
}

/** The obstacles in the order in which they matter. */
function fromState({ selector, needs }: Failed, state: ElementState, found: Found, log: string): BaxError | null {
  const { matched, which } = found
  const first = which ? `${selector} (the ${which} of ${matched} matches)` : selector
  const details = { selector, matched, candidates: [], element: state.name }
  const fail = (code: ErrorCode, sentence: string, more: Record<string, unknown> = {}) =>
    new BaxError(code, `${first} ${sentence}`, { details: { ...details, ...more } })

  if (!state.connected) return fail('element_detached', 'left the page during the action')
  if (needs === 'present') return null
  if (!state.visible) {
    return fail('element_not_visible', `is not visible: ${state.hiddenBy}`, { hidden_by: state.hiddenBy })
  }
  if (state.disabled) return fail('not_editable', `is disabled (${state.name})`, { disabled: true })
  if (needs === 'editable' && !state.editable) {
    const why = state.readonly ? 'is read-only' : 'cannot be edited'
    return fail('not_editable', `${why} (${state.name})`, { readonly: state.readonly })
  }
  if (state.options && /did not find some options/.test(log)) {
    const options = state.options.join(', ')
    return fail('element_not_found', `has no such option; it has: ${options}`, { options: state.options })
  }
  if (needs !== 'pointer') return null
  const { coveredBy } = state
  if (coveredBy) return fail('element_obscured', `is covered by ${coveredBy}`, { covered_by: coveredBy })
  if (!state.inViewport) return fail('element_not_visible', 'is outside of the viewport and cannot be scrolled into it')
  return null
}

/** What Playwright saw in the way, for pages that have changed since and frames of other sites. */
function interceptor(log: string): string | null {
  const lines = [...log.matchAll(/(<[^<>]+>.*?)(?: from .+ subtree)? intercepts pointer events/g)]
  return lines.at(-1)?.[1] ?? null
}

function stillBusy({ selector, timeoutMs }: Failed, log: string, cause: unknown): BaxError {
  const moving = /element is not stable/.test(log) ? ': it keeps moving' : ''
  return new BaxError('timeout', `the action on ${selector} was not done within ${timeoutMs} ms${moving}`, {
    details: { selector },
    cause,
  })
}
