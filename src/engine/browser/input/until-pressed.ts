/** Repeats presses that the page made miss, as Playwright repeats those that would hit another element. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { Pressed } from '../../../core/operation/direct-element.ts'
import type { Delivery } from './delivery.ts'

export interface Pressing extends Pressed {
  /** Missing for input that is no press. */
  readonly delivery: Delivery | undefined
}

/**
 * Presses an element until it has also got the release: one that moves in between gets no click. `press` waits until the
 * element is ready again. @throws BaxError `action_failed` when it moves each time
 */
export async function untilPressed<T>(press: () => Promise<T>, { delivery, selector, left }: Pressing): Promise<T> {
  for (let isAgain = false; ; isAgain = true) {
    const since = performance.now()
    const result = await press().catch((error: unknown) => {
      throw isAgain && error instanceof Error && error.name === 'TimeoutError' ? lost(selector, error) : error
    })
    if (!delivery || !(await delivery.readReaction(since))) return result
    delivery.confirmArrival()
    if (left() <= 0) throw lost(selector)
  }
}

function lost(selector: string, cause?: unknown): BaxError {
  const message = `${selector} moved while it was pressed, and got no click`
  const hint = 'wait until the page is at rest, then repeat it'
  return new BaxError('action_failed', message, { details: { selector, delivered: true }, hint, cause })
}
