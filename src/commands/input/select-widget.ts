/** Selects options of lists that are no select elements: comboboxes, listboxes, radio groups, tabs, menus and trees. */
import type { ElementHandle, Locator } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'
import { addTexts } from './form/add-texts.ts'
import { findWidget, isSelected, keptIn, labelsOf, type WidgetKind } from './form/find-widget.ts'
import { type Before, fieldText, type FoundOption, look, type Look } from './form/look.ts'
import { clickOn, type Facts, isOpen, leavePopup, minMs, openPopup, opensMs } from './form/popup.ts'
import { containsName, showsName } from './form/shown-name.ts'
import {
  chosenBeside,
  clickedPart,
  hasItems,
  isChosen,
  isItemAround,
  isListOfSeveral,
  isOneOfMany,
  isOpenLevel,
  isStillChosen,
  isTaken,
  isUnclicked,
  levelButton,
  ownTexts,
  scrollList,
  shownTexts,
  watchClick,
} from './widget.ts'

/** Time for an option that has got no click to show that it was chosen anyway, in milliseconds. */
const missedMs = 500
/** Time to leave the widget as it was when no option was chosen, also after the timeout, in milliseconds. */
const tidyMs = 2000

export interface Selecting {
  readonly selector: string
  readonly values: readonly string[]
}

/** A list of options, and the select element that keeps its value. */
export interface Widget {
  readonly kind: WidgetKind
  readonly widget: ElementHandle<Element>
  readonly select?: ElementHandle<HTMLSelectElement> | null
}

/** Returns the list of options that an element is, contains, labels or stands for. */
export async function widgetOf(element: Pick<Locator, 'elementHandle'>, limit: CallLimit): Promise<Widget> {
  const handle = await element.elementHandle(limit)
  const found = await handle.evaluateHandle(findWidget)
  const kind = await found.evaluate((of) => of.kind)
  const widget = (await found.getProperty('element')).asElement() as ElementHandle<Element>
  const select = kind === 'popup' ? (await widget.evaluateHandle(keptIn, handle)).asElement() : null
  return { kind, widget, select: select as ElementHandle<HTMLSelectElement> | null }
}

/** Selects options by name; returns their names. @throws BaxError unless the widget shows each of them as chosen. */
export async function selectInWidget(
  context: CommandContext,
  { selector, values: given }: Selecting,
  { kind, widget, select = null }: Widget,
  limit: CallLimit,
): Promise<string[]> {
  const end = performance.now() + limit.timeout
  const left = (atLeastMs = minMs) => ({ ...limit, timeout: Math.max(atLeastMs, end - performance.now()) })
  const facts = { context, selector, kind, widget, select, left }
  const values = select ? await select.evaluate(labelsOf, given) : given
  // A list that was open before does not show what is chosen.
  const shown = kind === 'popup' && !(await isOpen(widget)) ? await widget.evaluate(ownTexts) : null
  const before = kind === 'popup' ? await openPopup(facts) : null
  const isExpanded = await isOpen(widget)
  const chosen: string[] = []
  const close = async (atLeastMs?: number) => {
    if (kind === 'popup' && (await isOpen(widget))) await leavePopup(facts, left(atLeastMs))
  }
  try {
    for (const [index, value] of values.entries()) {
      // A list of one option closes with each choice, some with a transition.
      const isAgain = kind === 'popup' && chosen.length > 0 && !(await isOpen(widget))
      if (isAgain && (isExpanded || (await look(widget, value, before)).option === null)) await openPopup(facts)
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

/** Clicks on the option with this name, and waits until the widget shows it. */
async function choose(
  facts: Facts & { readonly shown: readonly string[] | null },
  value: string,
  before: Before,
  next: string | undefined,
): Promise<string> {
  const { context, selector, kind, widget, select, left, shown } = facts
  if (await select?.evaluate(isSelected, value)) return value
  // Many lists leave out what is chosen.
  const isTag = shown && containsName(value, shown.slice(1)) && (await look(widget, value, before)).option === null
  if (isTag) return value
  const found = await findByName(facts, value, before)
  if (found === 'added') return value
  const { option, name, isDisabled } = found
  const isMarked = select ? await select.evaluate(isSelected, name) : await option.evaluate(isChosen)
  // A click would take it back where several can be chosen. Comboboxes also mark the option that Enter would choose.
  if (isMarked && (!shown || containsName(name, shown) || (await option.evaluate(isOneOfMany)))) return name
  const details = { selector, option: name }
  if (isDisabled) throw new BaxError('not_editable', `${selector} has this option, but it is disabled`, { details })
  const texts = await widget.evaluate(shownTexts)
  const hasNext = async () => next !== undefined && (await look(widget, next, before)).option !== null
  const hadNext = await hasNext()
  if (next !== undefined && (await isLevelOf(facts, { option, name, next }, before))) return name
  const part = (await option.evaluateHandle(clickedPart)).asElement()!
  const watch = await part.evaluateHandle(watchClick)
  const isShown = async () => {
    if (await isReplaced(widget)) return { met: true }
    if (select) return { met: await select.evaluate(isSelected, name) }
    // A list that is always open shows the names of all options.
    const isNamed = kind === 'popup' && showsName(name, texts, await widget.evaluate(shownTexts))
    // An option of a tree opens the level with the next one, unless that is open already.
    const isWay = (!hadNext || (await option.evaluate(isOpenLevel))) && (await hasNext())
    if (found.offer) return { met: isNamed && !(await option.evaluate(isOffered, found.offer)) }
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

interface Level {
  readonly option: ElementHandle<Element>
  readonly name: string
  readonly next: string
}

/**
 * Returns whether an item of a tree has the next option below it, and opens its level with its button: a click on the item
 * would choose it, and with it all items below it. False for other lists. @throws BaxError if an opened level lacks it
 */
async function isLevelOf(facts: Facts, { option, name, next }: Level, before: Before): Promise<boolean> {
  const { context, selector, widget, left } = facts
  const seek = async () => (await look(widget, next, before)).option
  const seen = await seek()
  if (seen) return option.evaluate(isItemAround, seen)
  const opener = (await option.evaluateHandle(levelButton)).asElement()
  if (!opener && !(await option.evaluate(hasItems))) return false
  if (opener) await clickOn(facts, opener, `has the option ${name}, but`)
  const opened = await context.poll(async () => ({ met: (await seek()) !== null }), Math.min(opensMs, left().timeout))
  if (opened.met) return true
  const details = { selector, option: name }
  throw new BaxError('element_not_found', `${selector} has no option ${next} in ${name}`, { details })
}

/** Runs in the page: returns whether an option still offers to add a text. */
const isOffered = (option: Element, name: string): boolean =>
  option.isConnected &&
  option.checkVisibility() &&
  (option as HTMLElement).innerText.replaceAll(/\s+/g, ' ').trim() === name

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
  let found = first?.option ? first : await scrollTo(facts, value, before, isField ? 0.5 : 0.9)
  const text = found?.option ? null : await fieldText(widget)
  // The text of a field filters the options; other lists may load more.
  if (text !== null) await context.send(() => widget.fill(value, left()))
  if (text !== null && !found?.option) {
    found = await search(isThere, opensMs)
    const isFree = !found?.option && !found?.names.length
    if (isFree && (await context.send(() => widget.evaluate(addTexts, [value]))) === null) return 'added'
    if (isFree) await context.send(() => widget.fill(value, left()))
    const isOffer = !isFree && found?.names.some((name) => name.includes(value))
    const offered = isOffer && !found?.option ? await findOffer(facts, value, before) : null
    if (offered) return offered
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
  throw new BaxError('element_not_found', `${selector} ${why}${rest}`, {
    ...(isField && { hint: 'use fill to keep a text that is no option' }),
    details: { selector, options },
  })
}

/** Letters that no option has, to see whether a list repeats what is typed. */
const probe = 'qzx'

/** Returns the option that adds a text, such as `Create "Fig"`: the one that repeats what is typed; null without one. */
async function findOffer({ context, widget, left }: Facts, value: string, before: Before): Promise<FoundOption | null> {
  const seek = async (text: string, nameOf: (names: readonly string[]) => string | undefined) => {
    await context.send(() => widget.fill(text, left()))
    const seen = await context.poll(
      async () => {
        const name = nameOf((await look(widget, '', before)).names)
        return { met: name !== undefined, name }
      },
      Math.min(opensMs, left().timeout),
    )
    return 'name' in seen ? seen.name : undefined
  }
  const repeated = await seek(value + probe, (names) => names.find((name) => name.includes(value + probe)))
  const name = repeated?.replace(value + probe, () => value)
  if ((await seek(value, (names) => names.find((one) => one === name))) === undefined) return null
  const found = await look(widget, name!, before)
  return found.option && { ...found, option: found.option, name: value, offer: name! }
}

/** Maximum number of screens of a list to look through. */
const maxScreens = 500

/** Scrolls a long list for a part of the time until an option is drawn; returns null if it has none with this name. */
async function scrollTo(
  { context, widget, left }: Facts,
  value: string,
  before: Before,
  part: number,
): Promise<Look | null> {
  const end = performance.now() + left().timeout * part
  for (let screens = 0; screens < maxScreens && performance.now() < end; screens += 1) {
    const found = await look(widget, value, before)
    if (found.option) return found
    const isMoved = await found.any?.evaluate(scrollList, screens === 0)
    context.signal.throwIfAborted()
    if (!isMoved && screens > 0) return null
  }
  return null
}
