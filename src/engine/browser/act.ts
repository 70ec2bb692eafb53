/** Actions on elements: Playwright waits and acts; when it cannot, the page is asked why. */
import type { Locator, Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../core/command.ts'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { explain } from './explain.ts'
import { locateAll, type ParsedSelector, parseSelector, staleRef } from './selectors.ts'

/** A wait of nothing still has to ask the page once. */
const leastMs = 250

/** Options of a Playwright call that may take so long. */
export const callLimit = (timeoutMs: number | undefined, signal: AbortSignal): CallLimit => ({
  timeout: Math.max(leastMs, timeoutMs ?? limits.command.elementMs),
  signal,
})

/**
 * Runs an action on the first match of a selector.
 * @throws BaxError that says what stood in the way.
 */
export async function act<T>(
  page: Page,
  signal: AbortSignal,
  selector: string,
  action: (element: Locator, limit: CallLimit) => Promise<T>,
  options: ActOptions = {},
): Promise<T> {
  const parsed = parseSelector(selector)
  const element = locateAll(page, parsed).first()
  if (parsed.ref) await checkRef(element, selector, parsed)
  const limit = callLimit(options.timeoutMs, signal)
  try {
    return await action(element, limit)
  } catch (error) {
    if (error instanceof BaxError) throw error
    signal.throwIfAborted()
    throw await explain(error, { page, selector, ...options, timeoutMs: limit.timeout })
  }
}

/** A reference names one element of a snapshot: when that is gone, waiting does not bring it back. */
async function checkRef(element: Locator, selector: string, parsed: ParsedSelector): Promise<void> {
  const found = await element.count().catch((error: unknown) => {
    if (/Invalid frame in aria-ref/.test(String(error))) return 0
    throw error
  })
  if (found === 0) throw staleRef(selector, parsed)
}
