/** Opens and closes the list of options of a widget. */
import type { ElementHandle } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CallLimit, CommandContext } from '../../../core/operation/command.ts'
import { isAnyGone, partInReach, visibleNow } from '../widget.ts'
import type { WidgetKind } from './find-widget.ts'
import { type Before, fieldText, look } from './look.ts'

/** Time for a list to open after a click, before a key is tried, in milliseconds. */
export const opensMs = 2000
/** The same for a field that says that its list is closed, in milliseconds. */
const fieldOpensMs = 500
/** Minimum timeout of a call, in milliseconds. */
export const minMs = 250

export interface Facts {
  readonly context: CommandContext
  readonly selector: string
  readonly kind: WidgetKind
  readonly widget: ElementHandle<Element>
  readonly select: ElementHandle<HTMLSelectElement> | null
  /** Returns what is left of the timeout, 250 ms or a given time at least. */
  readonly left: (atLeastMs?: number) => CallLimit
}

/** Whether a list is open; not one whose document was replaced. */
export const isOpen = (widget: ElementHandle<Element>): Promise<boolean> =>
  widget.evaluate((node) => node.isConnected && node.getAttribute('aria-expanded') === 'true').catch(() => false)

/** Opens the list of a widget, unless it is open; returns the elements that were visible before. */
export async function openPopup(facts: Facts): Promise<Before> {
  const { context, widget, left } = facts
  if (await isOpen(widget)) {
    if (await hasOptions(facts, null, minMs)) return null
    await closePopup(facts)
  }
  const before = await widget.evaluateHandle(visibleNow)
  await press(facts)
  const isClosed = (await fieldText(widget)) !== null && !(await hasOptions(facts, before, fieldOpensMs))
  // A field may open its list only for a text.
  const waits = !isClosed || (await widget.getAttribute('aria-expanded')) !== 'false'
  const opened = waits && (await hasOptions(facts, before, opensMs))
  if (!opened) await context.send(() => widget.press('ArrowDown', left()))
  return before
}

/** Closes a list that nothing but its appearance connects with the widget, so that it can be opened again. */
async function closePopup({ context, widget, left }: Facts): Promise<void> {
  const shown = await widget.evaluateHandle(visibleNow)
  await context.send(() => widget.press('Escape', left()))
  await context.poll(async () => ({ met: await shown.evaluate(isAnyGone) }), opensMs)
}

/** Presses the Escape key where the focus is: some lists take the focus, and get it there only. */
export async function leavePopup({ context, widget }: Facts, limit: CallLimit): Promise<void> {
  const isAway = await widget.evaluate((node) => {
    const active = document.activeElement
    return active !== null && active !== document.body && !node.contains(active)
  })
  await context.send(() => (isAway ? context.page.keyboard.press('Escape') : widget.press('Escape', limit)))
}

/** Clicks on the part of a combobox that takes the click. */
async function press(facts: Facts): Promise<void> {
  const { context, widget, left } = facts
  let block: ScrollLogicalPosition = 'nearest'
  // Suggestions of the field before cover it until they have closed; a bar at the edge, until it is scrolled on.
  const seen = await context.poll(async () => {
    const part = (await widget.evaluateHandle(partInReach, block)).asElement() as ElementHandle<Element> | null
    block = 'center'
    return { met: part !== null, part }
  }, left().timeout / 2)
  const part = 'part' in seen ? seen.part : null
  await clickOn(facts, part ?? widget, 'cannot be opened:')
}

async function hasOptions({ context, widget }: Facts, before: Before, ms: number): Promise<boolean> {
  const seen = await context.poll(async () => {
    const { names } = await look(widget, '', before)
    return { met: names.length > 0 }
  }, ms)
  return seen.met
}

/** Lines of Playwright's call log that show why it could not click. */
const unreached = /intercepts pointer events|element is (?:not|outside)/

/** Clicks on a part of the widget. @throws BaxError that begins with `failure` when the click does not succeed in time */
export async function clickOn(
  { context, selector, left }: Facts,
  part: ElementHandle<Element>,
  failure: string,
): Promise<void> {
  try {
    await context.send(() => part.click(left()), { selector, left: () => left().timeout - minMs })
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error
    const why = unreached.test(error.message) ? 'a click does not reach it' : 'the page did not answer a click in time'
    throw new BaxError('action_failed', `${selector} ${failure} ${why}`, { details: { selector }, cause: error })
  }
}
