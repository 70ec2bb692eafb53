/** Selects options of lists that are no select elements: comboboxes, listboxes, radio groups, tabs, menus and trees. */
import type { ElementHandle, Locator } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'
import { addTexts } from './form/add-texts.ts'
import { type Before, fieldText, type FoundOption, look, type Look } from './form/look.ts'
import { containsName, showsName } from './form/shown-name.ts'
import {
  chosenBeside,
  clickedPart,
  findWidget,
  isAnyGone,
  isChosen,
  isListOfSeveral,
  isOneOfMany,
  isOpenLevel,
  isStillChosen,
  isTaken,
  isUnclicked,
  ownTexts,
  partInReach,
  scrollList,
  shownTexts,
  visibleNow,
  watchClick,
  type WidgetKind,
} from './widget.ts'

/** Time for a list to open after a click, before a key is tried, in milliseconds. */
const opensMs = 2000
/** Time for an option that has got no click to show that it was chosen anyway, in milliseconds. */
const missedMs = 500
/** Minimum timeout of a call, in milliseconds. */
const minMs = 250
/** Time to leave the widget as it was when no option was chosen, also after the timeout, in milliseconds. */
const tidyMs = 2000

export interface Selecting {
  readonly selector: string
  readonly values: readonly string[]
}

/** Returns the list of options that an element is, contains or labels. */
export async function widgetOf(
  element: Locator,
  limit: CallLimit,
): Promise<{ kind: WidgetKind; widget: ElementHandle<Element> }> {
  const handle = await element.elementHandle(limit)
  const found = await handle.evaluateHandle(findWidget)
  const kind = await found.evaluate((of) => of.kind)
  return { kind, widget: (await found.getProperty('element')).asElement() as ElementHandle<Element> }
}

/** Selects options by name; returns their names. @throws BaxError unless the widget shows each of them as chosen. */
export async function selectInWidget(
  context: CommandContext,
  { selector, values }: Selecting,
  { kind, widget }: { readonly kind: WidgetKind; readonly widget: ElementHandle<Element> },
  limit: CallLimit,
): Promise<string[]> {
  const end = performance.now() + limit.timeout
  const left = (atLeastMs = minMs) => ({ ...limit, timeout: Math.max(atLeastMs, end - performance.now()) })
  const facts = { context, selector, kind, widget, left }
  // A list that was open before does not show what is chosen.
  const shown = kind === 'popup' && !(await isOpen(widget)) ? await widget.evaluate(ownTexts) : null
  const before = kind === 'popup' ? await openPopup(facts) : null
  const chosen: string[] = []
  const close = async (atLeastMs?: number) => {
    if (kind === 'popup' && (await isOpen(widget))) await context.send(() => widget.press('Escape', left(atLeastMs)))
  }
  try {
    for (const [index, value] of values.entries()) {
      // A list of one option closes with each choice.
      const isAgain = kind === 'popup' && chosen.length > 0 && !(await isOpen(widget))
      if (isAgain && (await look(widget, value, before)).option === null) await openPopup(facts)
      chosen.push(await choose({ ...facts, shown }, value, before, values[index + 1]))
    }
  } catch (error) {
    // This error is the one to report, also when the page is too busy to close the list.
    await close(tidyMs).catch(() => {})
    throw error
  }
  // The options take the place of those that were chosen, as in a select element. The choice may have led to another page.
  const isOfSeveral = kind === 'list' && !(await isReplaced(widget)) && (await widget.evaluate(isListOfSeveral))
  if (isOfSeveral) await release(facts, chosen)
  // A list of several options stays open.
  await close()
  return chosen
}

/** Clicks on the chosen options with other names. @throws BaxError when one stays chosen */
async function release(facts: Facts, names: readonly string[]): Promise<void> {
  const { context, selector, widget, left } = facts
  let isReleased = true
  for (;;) {
    const other = (await widget.evaluateHandle(chosenBeside, names)).asElement() as ElementHandle<Element> | null
    if (!other) return
    if (!isReleased || left().timeout <= minMs) {
      const message = `${selector} still has another option chosen`
      throw new BaxError('action_failed', message, { details: { selector, delivered: true } })
    }
    await clickOn(facts, other, 'has another option chosen, but')
    const isStill = () => other.evaluate(isStillChosen)
    isReleased = (await context.poll(async () => ({ met: !(await isStill()) }), left().timeout)).met
  }
}

interface Facts {
  readonly context: CommandContext
  readonly selector: string
  readonly kind: WidgetKind
  readonly widget: ElementHandle<Element>
  /** Returns what is left of the timeout, 250 ms or a given time at least. */
  readonly left: (atLeastMs?: number) => CallLimit
}

/** Whether a list is open; not one whose document was replaced. */
const isOpen = (widget: ElementHandle<Element>): Promise<boolean> =>
  widget.evaluate((node) => node.isConnected && node.getAttribute('aria-expanded') === 'true').catch(() => false)

/** Opens the list of a widget, unless it is open; returns the elements that were visible before. */
async function openPopup(facts: Facts): Promise<Before> {
  const { context, widget, left } = facts
  if (await isOpen(widget)) {
    if (await hasOptions(facts, null, minMs)) return null
    await closePopup(facts)
  }
  const before = await widget.evaluateHandle(visibleNow)
  await press(facts)
  const opened = await hasOptions(facts, before, opensMs)
  if (!opened) await context.send(() => widget.press('ArrowDown', left()))
  return before
}

/** Closes a list that nothing but its appearance connects with the widget, so that it can be opened again. */
async function closePopup({ context, widget, left }: Facts): Promise<void> {
  const shown = await widget.evaluateHandle(visibleNow)
  await context.send(() => widget.press('Escape', left()))
  await context.poll(async () => ({ met: await shown.evaluate(isAnyGone) }), opensMs)
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

/** Clicks on the option with this name, and waits until the widget shows it. */
async function choose(
  facts: Facts & { readonly shown: readonly string[] | null },
  value: string,
  before: Before,
  next: string | undefined,
): Promise<string> {
  const { context, selector, kind, widget, left, shown } = facts
  // Many lists leave out what is chosen.
  const isTag = shown && containsName(value, shown.slice(1)) && (await look(widget, value, before)).option === null
  if (isTag) return value
  const found = await findByName(facts, value, before)
  if (found === 'added') return value
  const { option, name, isDisabled } = found
  const isMarked = await option.evaluate(isChosen)
  // A click would take it back where several can be chosen. Comboboxes also mark the option that Enter would choose.
  if (isMarked && (!shown || containsName(name, shown) || (await option.evaluate(isOneOfMany)))) return name
  const details = { selector, option: name }
  if (isDisabled) throw new BaxError('not_editable', `${selector} has this option, but it is disabled`, { details })
  const texts = await widget.evaluate(shownTexts)
  const hasNext = async () => next !== undefined && (await look(widget, next, before)).option !== null
  const hadNext = await hasNext()
  const part = (await option.evaluateHandle(clickedPart)).asElement()!
  const watch = await part.evaluateHandle(watchClick)
  const isShown = async () => {
    if (await isReplaced(widget)) return { met: true }
    // A list that is always open shows the names of all options.
    const isNamed = kind === 'popup' && showsName(name, texts, await widget.evaluate(shownTexts))
    // An option of a tree opens the level with the next one, unless that is open already.
    const isWay = (!hadNext || (await option.evaluate(isOpenLevel))) && (await hasNext())
    return { met: isNamed || (!isMarked && (await option.evaluate(isTaken))) || isWay }
  }
  const misses = () => watch.evaluate(isUnclicked).catch(() => false)
  let isMet: boolean
  do {
    // A list that is placed anew while it is pressed moves away from the pointer, and its option gets no click.
    await clickOn(facts, part, `has the option ${name}, but`)
    isMet = (await context.poll(isShown, Math.min(missedMs, left().timeout))).met
  } while (!isMet && left().timeout > minMs && (await misses()))
  if (isMet || (await context.poll(isShown, left().timeout)).met) return name
  if (next !== undefined && (await option.evaluate(isOpenLevel).catch(() => false)))
    throw new BaxError('element_not_found', `${selector} has no option ${next} in ${name}`, { details })
  const message = `${selector} does not show ${name} after a click on this option`
  throw new BaxError('action_failed', message, { details: { ...details, delivered: true } })
}

/** Lines of Playwright's call log that show why it could not click. */
const unreached = /intercepts pointer events|element is (?:not|outside)/

/** Clicks on a part of the widget. @throws BaxError that begins with `failure` when the click does not succeed in time */
async function clickOn(
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

/** Whether the document of an element was replaced: a choice may lead to another page. */
export const isReplaced = (element: ElementHandle<Node>): Promise<boolean> =>
  element.evaluate(() => false).catch(() => true)

/**
 * Waits for options, and finds the one with this name: in view, by scrolling, or by typing it. A text that a field takes
 * without options is `added`. @throws BaxError
 */
async function findByName(facts: Facts, value: string, before: Before): Promise<FoundOption | 'added'> {
  const { context, selector, widget, left } = facts
  const search = async (until: (seen: Look) => boolean, ms = left().timeout): Promise<Look | null> => {
    const seen = await context.poll(
      async () => {
        const found = await look(widget, value, before)
        return { met: until(found), found }
      },
      Math.min(ms, left().timeout),
    )
    return 'found' in seen ? seen.found : null
  }
  const isThere = ({ option }: Look) => option !== null
  const isField = (await fieldText(widget)) !== null
  const first = await search((seen) => isThere(seen) || seen.names.length > 0, isField ? minMs : undefined)
  let found = first?.option ? first : await scrollTo(facts, value, before)
  const text = found?.option ? null : await fieldText(widget)
  // The text of a field filters the options; other lists may load more.
  if (text !== null) await context.send(() => widget.fill(value, left()))
  if (text !== null && !found?.option) {
    found = await search(isThere, opensMs)
    const isFree = !found?.option && !found?.names.length
    if (isFree && (await context.send(() => widget.evaluate(addTexts, [value]))) === null) return 'added'
    if (isFree) await context.send(() => widget.fill(value, left()))
  }
  if (!found?.option) found = await search(isThere)
  if (found?.option) return { ...found, option: found.option }
  // Some take no text, and a key that clears it would clear what is chosen.
  const restore = async () =>
    text === null || (await fieldText(widget)) === text || context.send(() => widget.fill(text, left(tidyMs)))
  const rest = await restore().then(
    () => '',
    () => ' (its text could not be restored)',
  )
  const options = [...(first?.names ?? [])]
  const why = options.length > 0 ? `has no such option; it has: ${options.join(', ')}` : 'did not show any options'
  throw new BaxError('element_not_found', `${selector} ${why}${rest}`, { details: { selector, options } })
}

/** Maximum number of screens of a list to look through. */
const maxScreens = 500

/** Scrolls a long list until an option is drawn; returns null if it has none with this name. */
async function scrollTo({ context, widget, left }: Facts, value: string, before: Before): Promise<Look | null> {
  const end = performance.now() + left().timeout / 2
  for (let screens = 0; screens < maxScreens && performance.now() < end; screens += 1) {
    const found = await look(widget, value, before)
    if (found.option) return found
    const isMoved = await found.any?.evaluate(scrollList, screens === 0)
    context.signal.throwIfAborted()
    if (!isMoved && screens > 0) return null
  }
  return null
}
