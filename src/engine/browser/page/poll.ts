/** Repeats a check of a page until it succeeds. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import type { Probe, Unanswered } from '../../../core/operation/command.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { unlessGone } from './playwright-errors.ts'
import type { ScriptLimits } from './hung-script.ts'

/** Interval of the checks, in milliseconds. */
const intervalMs = 100
/** Minimum time for the first check, before a page counts as hung. */
const answerMs = 2000

/** Returns the last report of the probe: the first one that is met, else the one at the end of the time. */
export async function poll<Seen extends Probe>(
  page: Page,
  probe: () => Promise<Seen>,
  { timeoutMs, signal }: ScriptLimits,
): Promise<Seen | Unanswered> {
  const end = performance.now() + timeoutMs
  let last: Seen | Unanswered = { met: false, unanswered: true }
  for (let first = true; first || performance.now() < end; first = false) {
    const ms = Math.max(first ? answerMs : 1, end - performance.now())
    const seen = await withDeadline(page.isClosed() ? probe() : unlessGone(probe()), { ms, value: undefined, signal })
    last = seen ?? last
    if (last.met) return last
    const left = end - performance.now()
    if (left > 0) await pause(Math.min(intervalMs, left), undefined, { signal })
  }
  return last
}
