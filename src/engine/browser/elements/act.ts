/** Actions on elements: Playwright waits and acts; a diagnosis in the page explains failures. */
import type { Locator, Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Delivery } from '../input/delivery.ts'
import { explain } from './explain.ts'
import { pickElement, type Picked } from './pick.ts'
import { locateAll, type ParsedSelector, parseSelector, staleRef } from './selectors.ts'

/** Minimum timeout, so that Playwright can check the page at least once. */
const minMs = 250

/** Returns the timeout options of a Playwright call. */
export const callLimit = (timeoutMs: number | undefined, signal: AbortSignal): CallLimit => ({
  timeout: Math.max(minMs, timeoutMs ?? limits.command.elementMs),
  signal,
})

/** Context of a command's actions. */
export interface ActionContext {
  readonly page: Page
  readonly signal: AbortSignal
  readonly strict: boolean
  /** Set for commands that send input. */
  readonly delivery: Delivery | undefined
  /** Called with the number of matches when there are several. */
  readonly onMatches: (matches: number) => void
}

/**
 * Runs an action on the first visible match of a selector, or on the first one when none is visible.
 * @throws BaxError that explains the failure.
 */
export async function act<T>(
  { page, signal, strict, delivery, onMatches }: ActionContext,
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
    picked = await pickElement({ page, selector, parsed, needs: options.needs, strict }, limit)
    if (picked.matches > 1) onMatches(picked.matches)
    const left = Math.max(minMs, Math.round(limit.timeout - (performance.now() - started)))
    return await action(picked.element, { ...limit, timeout: left })
  } catch (error) {
    delivery?.readLog(error)
    if (error instanceof BaxError) throw error
    signal.throwIfAborted()
    const sent = isLate(error) ? await delivery?.failure(selector, error) : undefined
    throw sent ?? (await explain(error, { page, selector, ...options, picked, timeoutMs: limit.timeout }))
  }
}

/** Returns whether input may have been sent before an error: a timeout, or a detached element. */
const isLate = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || /not attached to the DOM|was detached/.test(error.message))

/** Checks that the element of a reference still exists: waiting would not bring it back. */
async function checkRef(element: Locator, selector: string, parsed: ParsedSelector): Promise<void> {
  const found = await element.count().catch((error: unknown) => {
    if (/Invalid frame in aria-ref/.test(String(error))) return 0
    throw error
  })
  if (found === 0) throw staleRef(selector, parsed)
}
