/** Repeats a check of a page until it succeeds. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import type { Probe, Unanswered } from '../../../core/operation/command.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { responseOf, type ScriptLimits } from './hung-script.ts'
import { unlessGone } from './playwright-errors.ts'

/** Interval of the checks, in milliseconds. */
const intervalMs = 100

/** Minimum time for the first check, before the page is asked whether it responds. */
const answerMs = 2000

/** Time in which a page responds that is not hung. */
const responseMs = 1000

/** Further time for the first check of a page that responds: many calls take long on a busy machine. */
const furtherMs = 5000

/** Returns the last report of the probe: the first one that is met, else the one at the end of the time. */
export async function poll<Seen extends Probe>(
  page: Page,
  probe: () => Promise<Seen>,
  { timeoutMs, signal }: ScriptLimits,
): Promise<Seen | Unanswered> {
  const end = performance.now() + timeoutMs
  let last: Seen | Unanswered = { met: false, unanswered: true }
  for (let first = true; first || performance.now() < end; first = false) {
    const probing = page.isClosed() ? probe() : unlessGone(probe())
    const within = (ms: number) => withDeadline(probing, { ms, value: undefined, signal })
    let seen = await within(Math.max(first ? answerMs : 1, end - performance.now()))
    if (!seen && first && (await responds(page))) seen = await within(furtherMs)
    last = seen ?? last
    if (last.met) return last
    const left = end - performance.now()
    if (left > 0) await pause(Math.min(intervalMs, left), undefined, { signal })
  }
  return last
}

const responds = (page: Page): Promise<boolean> => withDeadline(responseOf(page), { ms: responseMs, value: false })
