/** Explains why an action on an element failed, in a message and in details. */
import type { Frame, Locator, Page } from 'playwright'
import type { ActOptions } from '../../../core/operation/command.ts'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type * as described from './candidates.page.ts'
import candidatesScript from './candidates.page.ts?inline'
import type * as diagnosis from './diagnose.page.ts'
import diagnoseScript from './diagnose.page.ts?inline'
import type * as similar from './nearest.page.ts'
import type { Picked } from './act.ts'
import nearestScript from './nearest.page.ts?inline'
import { pageFunction } from '../page/page-function.ts'
import { isGone, toBaxError, unlessGone } from '../page/playwright-errors.ts'
import { responseOf } from '../page/hung-script.ts'
import {
  converted,
  locateAll,
  type ParsedSelector,
  parseSelector,
  rootOf,
  selectorFault,
  staleRef,
} from './selectors.ts'

export interface FailedAction extends ActOptions {
  readonly page: Page
  readonly selector: string
  readonly timeoutMs: number
  /** Element of the action; undefined when none was found. */
  readonly picked?: Picked | undefined
}

/** Timeout for the diagnosis in the page. */
const diagnosisMs = 2000
/** Timeout for its frames, so that one that hangs does not discard the page's own diagnosis. */
const framesMs = 1000

const stateOf = pageFunction<typeof diagnosis.stateOf>(diagnoseScript, 'stateOf')
const coverAt = pageFunction<typeof diagnosis.coverAt>(diagnoseScript, 'coverAt')
const nearest = pageFunction<typeof similar.nearest>(nearestScript, 'nearest')

/** Errors that Playwright throws at once, since the element has the wrong type. */
const refusals: readonly [RegExp, ErrorCode, string][] = [
  [/Element is not an? <select>/, 'not_editable', 'is not a select element'],
  [
    /Element is not an <input>|Cannot type text into|cannot be filled|Malformed value/,
    'not_editable',
    'does not take this text',
  ],
  [/Node is not an <input>/, 'not_editable', 'has no value: it is not a form field'],
  [/Not a checkbox or radio button/, 'not_editable', 'is not a checkbox or radio button'],
  [/Cannot uncheck radio button/, 'not_editable', 'is a radio button and cannot be unchecked'],
  [/did not change its state/, 'action_failed', 'did not change its state when it was clicked'],
  [/not attached to the DOM|was detached/, 'element_detached', 'left the page during the action'],
]

/** Converts the error of an action. */
export async function explain(error: unknown, failed: FailedAction): Promise<BaxError> {
  const { selector } = failed
  const invalid = selectorFault(error, selector)
  if (invalid) return withSuggestions(invalid, failed)
  const message = error instanceof Error ? error.message : String(error)
  const timedOut = error instanceof Error && error.name === 'TimeoutError'
  const refusal = refusals.find(([pattern]) => pattern.test(timedOut ? '' : message))
  if (refusal) {
    const [, code, sentence] = refusal
    return new BaxError(code, `${selector} ${sentence}`, { details: { selector }, cause: error })
  }
  if (!timedOut) return toBaxError(error, selector)
  const found = await diagnose(failed, message)
  if (found) return found
  const also = failed.also === undefined ? undefined : { ...failed, selector: failed.also, picked: undefined }
  const second = also ? await diagnose(also, message) : null
  return second ?? timeoutError(failed, message, error)
}

/** Returns the error for a selector that matches nothing, with similar elements; not when the page does not answer. */
export async function noMatch(page: Page, selector: string): Promise<BaxError> {
  const failed = { page, selector, timeoutMs: 0 }
  return (await diagnose(failed, '')) ?? notFound(failed)
}

/** Adds the elements that show a text which is no selector, such as `Save & close`. */
async function withSuggestions(error: BaxError, { page, selector }: FailedAction): Promise<BaxError> {
  const parsed = parseSelector(selector)
  const asText = { ...parsed, inner: `text=${JSON.stringify(parsed.inner)}` }
  const candidates = (await orUndefined(similarElements(page, asText))) ?? []
  const [first] = candidates
  if (!first) return error
  const details = { selector, candidates }
  return new BaxError(error.code, error.message, { details, hint: `did you mean ${first.selector}?`, cause: error })
}

/** Diagnoses the element in the page; returns null when it is usable, or when the page does not answer. */
async function diagnose(failed: FailedAction, log: string): Promise<BaxError | null> {
  const { page, selector } = failed
  const parsed = parseSelector(selector)
  const all = locateAll(page, parsed)
  const matched = await orUndefined(all.count())
  if (matched === undefined) return null
  if (matched === 0) {
    if (parsed.ref) return staleRef(selector, parsed)
    const [candidates, answers] = await Promise.all([
      orUndefined(similarElements(page, parsed)),
      orUndefined(responseOf(page)),
    ])
    // Playwright also counts no matches when the page does not answer, or has not answered in time.
    const isMissing = answers && (await orUndefined(all.count())) === 0
    return isMissing ? notFound(failed, candidates) : null
  }
  // The element of the action may be hidden or gone by now.
  const isPresent = failed.picked && ((await orUndefined(failed.picked.element.count())) ?? 0) > 0
  const { element, which } = isPresent ? failed.picked! : { element: all.first(), which: 'first' as const }
  const state = await orUndefined(element.evaluate(stateOf, undefined, { timeout: diagnosisMs }))
  if (!state) return null
  const coveredBy = state.coveredBy ?? (failed.needs === 'pointer' ? await orUndefined(frameCover(page, parsed)) : null)
  const seen = { ...state, coveredBy: coveredBy ?? interceptor(log) }
  return fromState(failed, seen, { matched, which }, log)
}

/** Returns what covers an element's frame at the point of a click, which a cross-origin frame cannot see itself. */
async function frameCover(page: Page, parsed: ParsedSelector): Promise<string | null> {
  const [css] = parsed.frames
  const box = css === undefined ? null : await locateAll(page, parsed).first().boundingBox({ timeout: diagnosisMs })
  if (!box) return null
  const frame = locateAll(page, { frames: [], inner: css!, ref: null }).first()
  return frame.evaluate(coverAt, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, { timeout: diagnosisMs })
}

/** Returns similar elements: similar frames when the frame is missing, else similar elements in it. */
async function similarElements(page: Page, parsed: ParsedSelector): Promise<similar.Candidate[]> {
  for (const [at, css] of parsed.frames.entries()) {
    const outer = { frames: parsed.frames.slice(0, at), ref: null }
    if ((await locateAll(page, { ...outer, inner: css }).count()) > 0) continue
    const candidates = await nearestIn(rootOf(page, { ...outer, inner: '' }), css)
    return candidates.map(({ selector, element }) => ({ selector: `frame=${selector}`, element }))
  }
  const found = nearestIn(rootOf(page, parsed), parsed.inner)
  const candidates = found.then((similar) => matching(page, parsed, similar))
  if (parsed.frames.length > 0) return candidates
  const [framed = [], here] = await Promise.all([orUndefined(framedMatches(page, parsed.inner), framesMs), candidates])
  return [...framed, ...here]
}

const shownCandidates = 5

/** Leaves out selectors that match nothing: the name of an element by its role is not always its text. */
async function matching(
  page: Page,
  parsed: ParsedSelector,
  candidates: readonly similar.Candidate[],
): Promise<similar.Candidate[]> {
  const count = async ({ selector }: similar.Candidate) => locateAll(page, { ...parsed, inner: selector }).count()
  const counts = await Promise.all(candidates.map(count))
  return candidates.filter((_, at) => counts[at]! > 0).slice(0, shownCandidates)
}

const nearestIn = (root: Locator, selector: string): Promise<similar.Candidate[]> =>
  root.evaluate(nearest, selector, { timeout: diagnosisMs })

/** Returns the result of `work`, or undefined when the page navigates, hangs or closes meanwhile. */
async function orUndefined<T>(work: Promise<T>, ms = diagnosisMs): Promise<T | undefined> {
  try {
    return await withDeadline(work, { ms, value: undefined })
  } catch (error) {
    if (isGone(error) || (error instanceof Error && error.name === 'TimeoutError')) return undefined
    throw error
  }
}

function notFound({ page, selector, timeoutMs }: FailedAction, candidates: similar.Candidate[] = []): BaxError {
  const names = candidates.map((candidate) => candidate.selector)
  const isBlank = names.length === 0 && page.url() === 'about:blank'
  const closest = isBlank ? ': no page is open' : names.length > 0 ? ` (closest: ${names.join(', ')})` : ''
  return new BaxError('element_not_found', `no element matches ${selector}${closest}`, {
    details: { selector, matched: 0, candidates, waited_ms: timeoutMs },
    ...(isBlank
      ? { hint: blankHint }
      : isBareRef(selector)
        ? { hint: refHint(selector) }
        : names[0] && { hint: `did you mean ${names[0]}?` }),
  })
}

const blankHint = 'open one first: navigate_to, or "bax open URL"'

/** Whether a selector is a reference without its prefix; as a selector, it would be a tag name. */
const isBareRef = (selector: string) => /^e\d+$/.test(selector)
const refHint = (selector: string) => `did you mean @${selector}? Over HTTP and in scripts: ref=${selector}`

const listMatches = 'list the matches with --strict, and use a selector for one of them'

/** Builds the error for the state of an element, for the most important obstacle. */
function fromState(
  { selector, needs }: FailedAction,
  state: diagnosis.ElementState,
  { matched, which }: Pick<Picked, 'which'> & { readonly matched: number },
  log: string,
): BaxError | null {
  const first = matched > 1 ? `${selector} (the ${which} of ${matched} matches)` : selector
  const details = { selector, matched, candidates: [], element: state.name }
  const fail = (code: ErrorCode, sentence: string, more: Record<string, unknown> = {}, hint?: string) =>
    new BaxError(code, `${first} ${sentence}`, {
      details: { ...details, ...more },
      ...(matched > 1 ? { hint: listMatches } : hint !== undefined && { hint }),
    })

  if (!state.connected) return fail('element_detached', 'left the page during the action')
  if (needs === 'present') return null
  const isDisabled = () => fail('not_editable', `is disabled (${state.name})`, { disabled: true })
  // A hidden field can be used through the label that is shown in its place, unless it is disabled.
  if (state.disabled && /element is not enabled/.test(log)) return isDisabled()
  if (!state.visible) {
    return fail('element_not_visible', `is not visible: ${state.hiddenBy}`, { hidden_by: state.hiddenBy })
  }
  if (state.disabled) return isDisabled()
  if (needs === 'editable' && !state.editable) {
    const why = state.readonly ? 'is read-only' : 'cannot be edited'
    const hint = state.readonly ? 'if a click on it opens something, such as a calendar, choose there' : undefined
    return fail('not_editable', `${why} (${state.name})`, { readonly: state.readonly }, hint)
  }
  if (state.options && /did not find some options/.test(log)) {
    const options = state.options.join(', ')
    return fail('element_not_found', `has no such option; it has: ${options}`, { options: state.options })
  }
  if (state.options && /option being selected is not enabled/.test(log))
    return fail('not_editable', 'has this option, but it is disabled', { disabled: true })
  if (needs !== 'pointer') return null
  const { coveredBy } = state
  if (coveredBy) return fail('element_obscured', `is covered by ${coveredBy}`, { covered_by: coveredBy })
  if (!state.inViewport) return fail('element_not_visible', 'is outside of the viewport and cannot be scrolled into it')
  return null
}

/** Returns the covering element from Playwright's log, for changed pages and cross-origin frames. */
function interceptor(log: string): string | null {
  return [...log.matchAll(/(<[^<>]+>.*?)(?: from .+ subtree)? intercepts pointer events/g)].at(-1)?.[1] ?? null
}

function timeoutError({ selector, timeoutMs }: FailedAction, log: string, cause: unknown): BaxError {
  const moving = /element is not stable/.test(log) ? ': it keeps moving' : ''
  return new BaxError('timeout', `the action on ${selector} timed out after ${timeoutMs} ms${moving}`, {
    details: { selector },
    cause,
  })
}

/** Maximum number of frames to search; pages with advertisements have hundreds. */
const maxFrames = 30
const maxCandidates = 3

const uniqueSelector = pageFunction<typeof described.uniqueSelector>(candidatesScript, 'uniqueSelector')
const nameOf = pageFunction<typeof described.elementName>(candidatesScript, 'elementName')

/** Returns the matches of a selector in the frames of a page, each with its chain of frames. */
async function framedMatches(page: Page, selector: string): Promise<similar.Candidate[]> {
  const frames = page.frames().slice(1, maxFrames + 1)
  // Ignore frames that close meanwhile.
  const found = await Promise.all(frames.map((frame) => unlessGone(matchIn(frame, selector))))
  return found.filter((candidate) => candidate !== undefined).slice(0, maxCandidates)
}

async function matchIn(frame: Frame, selector: string): Promise<similar.Candidate | undefined> {
  const match = frame.locator(converted(selector)).first()
  if ((await match.count()) === 0) return undefined
  const [chain, element] = await Promise.all([chainTo(frame), match.evaluate(nameOf, undefined)])
  return { selector: `${chain}${selector}`, element }
}

/** Returns a chain such as `frame=#outer >> frame=#inner >> `. */
async function chainTo(frame: Frame): Promise<string> {
  const parent = frame.parentFrame()
  if (!parent) return ''
  const element = await frame.frameElement()
  const own = await element.evaluate(uniqueSelector as (node: Node) => string, undefined)
  return `${await chainTo(parent)}frame=${own} >> `
}
