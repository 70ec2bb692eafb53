/** Chooses the match of a selector for an action. */
import type { Locator, Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import candidatesScript from './candidates.page.ts?inline'
import type { Candidate } from './nearest.page.ts'
import { listFunction } from '../batch/page-function.ts'
import { isGone } from '../batch/playwright-errors.ts'
import { evaluateAll, locateAll, type ParsedSelector } from './selectors.ts'

/** The chosen element, and the number of matches. */
export interface Picked {
  readonly element: Locator
  readonly matches: number
  /** Which of the matches it is, for messages. */
  readonly which: 'first' | 'first visible'
}

export interface PickOptions {
  readonly page: Page
  readonly selector: string
  readonly parsed: ParsedSelector
  readonly needs: ActOptions['needs']
  readonly strict: boolean
}

const describeMatches = listFunction<Candidate[], null>(candidatesScript, 'describeMatches')

/**
 * Waits for a match, and returns the first visible one, or the first one when none is visible.
 * @throws BaxError `ambiguous_selector` with `strict`; Playwright's TimeoutError.
 */
export async function pickElement(
  { page, selector, parsed, needs, strict }: PickOptions,
  limit: CallLimit,
): Promise<Picked> {
  const all = locateAll(page, parsed)
  let matches = await count(all, limit)
  if (matches === 0) {
    await all.first().waitFor({ state: 'attached', ...limit })
    matches = await count(all, limit)
  }
  if (matches < 2) return { element: all.first(), matches, which: 'first' }
  if (strict) throw await ambiguous(page, selector, matches)
  const visible = all.filter({ visible: true })
  // Wait for a visible match only if needed: hidden file fields, for example, are usable.
  const waits = needs === 'visible' || needs === 'pointer'
  if (!waits && (await count(visible, limit)) === 0) return { element: all.first(), matches, which: 'first' }
  return { element: visible.first(), matches, which: 'first visible' }
}

/** Minimum timeout before a page counts as hung. */
const answerMs = 2000

/** Counts matches, none if the page navigates meanwhile. @throws Error named `TimeoutError`, like Playwright. */
async function count(all: Locator, { timeout, signal }: CallLimit): Promise<number> {
  const ms = Math.max(timeout, answerMs)
  try {
    return await withDeadline(all.count(), { ms, error: `the page did not answer within ${ms} ms` })
  } catch (error) {
    signal.throwIfAborted()
    if (isGone(error) && !all.page().isClosed()) return 0
    if (!(error instanceof BaxError)) throw error
    throw Object.assign(new Error(error.message, { cause: error }), { name: 'TimeoutError' })
  }
}

async function ambiguous(page: Page, selector: string, matched: number): Promise<BaxError> {
  const candidates = await evaluateAll(page, selector, describeMatches, null)
  const names = candidates.map(({ element }) => element).join(', ')
  const more = matched > candidates.length ? ', …' : ''
  return new BaxError('ambiguous_selector', `${selector} matches ${matched} elements: ${names}${more}`, {
    details: { selector, matched, candidates },
  })
}
