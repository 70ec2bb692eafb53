/** Waits for disabled and read-only elements and options, but not for long: most of them only change after another action. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import { limits } from '../../../core/limits/limits.ts'

const intervalMs = 50

/** Returns what is still disabled after the time that the caller has set, or a short time after the page has loaded. */
export async function stillDisabled(
  element: Locator,
  { needs, options, timeoutMs = limits.command.disabledMs }: Pick<ActOptions, 'needs' | 'options' | 'timeoutMs'>,
  limit: CallLimit,
): Promise<'element' | 'option' | 'text' | undefined> {
  const started = performance.now()
  let since = started
  for (;;) {
    const found = await disabledPart(element, { needs, options }, limit)
    const now = performance.now()
    if (!found || now - since >= timeoutMs || now - started >= limit.timeout) return found
    await pause(intervalMs, undefined, { signal: limit.signal })
    if (await isLoading(element)) since = performance.now()
  }
}

async function disabledPart(
  element: Locator,
  { needs, options }: Pick<ActOptions, 'needs' | 'options'>,
  limit: CallLimit,
) {
  if (await element.isDisabled(limit)) return 'element'
  // A list of options can be a field that takes no text.
  if (options) return (await element.evaluate(isOptionDisabled, options, limit)) ? 'option' : undefined
  return needs === 'editable' && (await element.evaluate(isReadOnly, undefined, limit)) ? 'text' : undefined
}

/** Runs in the page. Self-contained: only the text of the function reaches it. */
function isReadOnly(node: Element): boolean {
  const field = node instanceof HTMLLabelElement ? node.control : node
  return (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.readOnly
}

/**
 * Runs in the page: returns whether one of the options to select is disabled. Self-contained: only the text of the
 * function reaches the page.
 */
function isOptionDisabled(node: Element, texts: readonly string[]): boolean {
  const select = node instanceof HTMLLabelElement ? node.control : node
  if (!(select instanceof HTMLSelectElement)) return false
  const all = [...select.options]
  const found = texts.map((text) => all.find(({ value, label }) => value === text || label.trim() === text.trim()))
  return found.some((option) => option?.matches(':disabled'))
}

/** Returns whether scripts may not have run yet. */
async function isLoading(element: Locator): Promise<boolean> {
  try {
    return await element.page().evaluate(() => document.readyState !== 'complete')
  } catch {
    // The document is being replaced; a page that is gone fails at the next check.
    return true
  }
}
