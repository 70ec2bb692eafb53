/** Actions on elements: Playwright waits and acts; when it cannot, the page is asked why. */
import type { Locator, Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Delivery } from '../input/delivery.ts'
import { explain } from './explain.ts'
import { pick, type Picked } from './pick.ts'
import { locateAll, type ParsedSelector, parseSelector, staleRef } from './selectors.ts'

/** A wait of nothing still has to ask the page once. */
const leastMs = 250

/** Options of a Playwright call that may take so long. */
export const callLimit = (timeoutMs: number | undefined, signal: AbortSignal): CallLimit => ({
  timeout: Math.max(leastMs, timeoutMs ?? limits.command.elementMs),
  signal,
})

/** What one command knows of its elements. */
export interface Acting {
  readonly page: Page
  readonly signal: AbortSignal
  /** Refuse a selector that matches several elements. */
  readonly strict: boolean
  /** Set for commands that send input. */
  readonly delivery: Delivery | undefined
  /** Called with the number of matches when there are several. */
  readonly onMatches: (matches: number) => void
}

/**
 * Runs an action on the first visible match of a selector, or on the first one when none is visible.
 * @throws BaxError that says what stood in the way.
 */
export async function act<T>(
  { page, signal, strict, delivery, onMatches }: Acting,
  selector: string,
  action: (element: Locator, limit: CallLimit) => Promise<T>,
  options: ActOptions = {},
): Promise<T> {
  const parsed = parseSelector(selector)
  if (parsed.ref) await checkRef(locateAll(page, parsed).first(), selector, parsed)
  const limit = callLimit(options.timeoutMs, signal)
  const started = performance.now()
  let picked: Picked | undefined
  try {
    picked = await pick({ page, selector, parsed, needs: options.needs, strict }, limit)
    if (picked.matches > 1) onMatches(picked.matches)
    const left = Math.max(leastMs, Math.round(limit.timeout - (performance.now() - started)))
    return await action(picked.element, { ...limit, timeout: left })
  } catch (error) {
    delivery?.readLog(error)
    if (error instanceof BaxError) throw error
    signal.throwIfAborted()
    const sent = isLate(error) ? await delivery?.failure(selector, error) : undefined
    throw sent ?? (await explain(error, { page, selector, ...options, picked, timeoutMs: limit.timeout }))
  }
}

/** Failures after which the page does not say any more what stood in the way: out of time, or the element is gone. */
const isLate = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || /not attached to the DOM|was detached/.test(error.message))

/** A reference names one element of a snapshot: when that is gone, waiting does not bring it back. */
async function checkRef(element: Locator, selector: string, parsed: ParsedSelector): Promise<void> {
  const found = await element.count().catch((error: unknown) => {
    if (/Invalid frame in aria-ref/.test(String(error))) return 0
    throw error
  })
  if (found === 0) throw staleRef(selector, parsed)
}
