/** Sets checkboxes, radio buttons and select elements, for single fields and for forms. */
import type { ElementHandle, Locator } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext, Point } from '../../core/operation/command.ts'
import { checkPart } from './check-part.ts'
import { type Selecting, selectInWidget, widgetOf } from './select-widget.ts'

interface Target {
  readonly selector: string
  readonly timeout_ms?: number | undefined
}

/** Time for a page to show the state that a click has set, in milliseconds. */
const shownMs = 2000

/** Sets a checkbox, radio button or switch with a click on it, or on what the page shows in its place. */
export const setChecked = (context: CommandContext, target: Target, checked: boolean): Promise<void> =>
  context.act(
    target,
    'pointer',
    async (element, limit) => {
      const handle = await element.elementHandle(limit)
      await setByClick(context, { element, handle, checked, ...target }, limit)
    },
    {
      mayBeHidden: true,
      enabled: true,
      direct: (element) => element.setChecked(checked),
    },
  )

interface Checking extends Target {
  readonly element: Pick<Locator, 'setChecked'>
  readonly handle: ElementHandle
  readonly checked: boolean
}

/** Sets an element, of which `handle` is one, with a click on it or on the part that the page shows in its place. */
export async function setByClick(
  { poll }: CommandContext,
  { element, handle, checked, selector }: Checking,
  limit: CallLimit,
) {
  const started = performance.now()
  const left = () => ({ ...limit, timeout: Math.max(1, limit.timeout - (performance.now() - started)) })
  const found = await poll(async () => {
    const result = await handle.evaluateHandle(checkPart, checked)
    const way = await result.evaluate((of) => of.way)
    return { met: way !== 'hidden', way, result }
  }, limit.timeout)
  if (!('way' in found) || found.way === 'own' || found.way === 'hidden') {
    // Playwright takes it for one that is clear.
    if (!checked && (await handle.evaluate(isMixed))) await handle.click(left())
    return element.setChecked(checked, left())
  }
  if (found.way === 'set') return
  const details = { selector }
  if (found.way === 'disabled') throw new BaxError('not_editable', `${selector} is disabled`, { details })
  const part = await found.result.getProperty('part')
  const [clicked, position] = await Promise.all([part.getProperty('element'), part.getProperty('position')])
  await (clicked.asElement() as ElementHandle).click({ position: (await position.jsonValue()) as Point, ...left() })
  const isShown = (node: Node, wanted: boolean) => {
    const control = node instanceof HTMLLabelElement ? node.control : node
    const { checked: own, ariaChecked } = control as HTMLInputElement
    return own === wanted || ariaChecked === String(wanted)
  }
  // The change may have led to another page, by submitting a form.
  const shown = await poll(async () => ({ met: await handle.evaluate(isShown, checked).catch(() => true) }), shownMs)
  // The words of Playwright, which are explained like its own.
  if (!shown.met) throw new Error('Clicking the checkbox did not change its state')
}

/** Runs in the page: returns whether a checkbox is neither checked nor clear, as one for several others. */
const isMixed = (node: Node): boolean => (node as Element).getAttribute('aria-checked') === 'mixed'

/** Selects options by value or label; returns the values of the selected ones, and the names in other widgets. */
export const selectOptions = (context: CommandContext, target: Target, values: readonly string[]): Promise<string[]> =>
  context.act(target, 'editable', (element, limit) => selectIn(context, element, { ...target, values }, limit), {
    mayBeHidden: true,
    options: values,
    direct: async (element) => {
      const indexes = await element.evaluate(findOptions, values)
      if (!indexes) return element.unclear('did not find some options')
      const { set, shown } = await context.send(() => element.evaluate(setOptions, indexes))
      return kept(target.selector, set, shown)
    },
  })

async function selectIn(context: CommandContext, element: Locator, selecting: Selecting, limit: CallLimit) {
  const found = await widgetOf(element, limit)
  const isPlain = found.kind === 'native' || found.kind === 'none'
  if (isPlain) {
    const set = await element.selectOption([...selecting.values], limit)
    // The page may have left.
    return kept(
      selecting.selector,
      set,
      await element.evaluate(shownOptions, undefined, { timeout: shownMs }).catch(() => null),
    )
  }
  return selectInWidget(context, selecting, found, limit)
}

/**
 * Runs in the page: returns the indexes of the options, in the order of Playwright; null when one is missing or disabled.
 * Self-contained: only the text of the function reaches the page.
 */
function findOptions(node: Element, values: readonly string[]): number[] | null {
  if (!(node instanceof HTMLSelectElement)) return null
  const plain = (text: string) =>
    text
      .replaceAll(/[\u200B\u00AD]/g, '')
      .trim()
      .replaceAll(/\s+/g, ' ')
  let missing = [...values]
  const found: number[] = []
  for (const [index, option] of [...node.options].entries()) {
    const fits = (value: string) =>
      value === option.value || value === option.label || plain(value) === plain(option.label)
    if (!missing.some(fits)) continue
    if (option.matches(':disabled') || option.closest('[disabled], [aria-disabled="true" i]')) return null
    found.push(index)
    if (!node.multiple) return found
    missing = missing.filter((value) => !fits(value))
  }
  return missing.length > 0 ? null : found
}

/** Returns the values that were set. @throws BaxError `not_editable` when the page shows others; null when it has left. */
function kept(selector: string, set: string[], shown: readonly string[] | null): string[] {
  if (shown === null || [...set].toSorted().join('\n') === [...shown].toSorted().join('\n')) return set
  const state = shown.length === 0 ? 'no option' : shown.map((value) => JSON.stringify(value)).join(', ')
  throw new BaxError('not_editable', `${selector} has ${state} selected again: the page has changed the selection`, {
    details: { selector, selected: shown, delivered: true },
  })
}

/** Runs in the page: returns the values of the selected options after the page's reaction; null for other elements. */
async function shownOptions(node: Node): Promise<string[] | null> {
  await new Promise((resolve) => setTimeout(resolve))
  const select = node instanceof HTMLLabelElement ? node.control : node
  if (!(select instanceof HTMLSelectElement) || !select.isConnected) return null
  return [...select.selectedOptions].map(({ value }) => value)
}

/** Runs in the page: selects options as Playwright does; returns their values, and those that the page shows then. */
async function setOptions(
  node: Element,
  indexes: readonly number[],
): Promise<{ set: string[]; shown: string[] | null }> {
  const select = node as HTMLSelectElement
  const options = indexes.map((index) => select.options[index]!)
  // Like Playwright, which first selects none.
  select.selectedIndex = -1
  for (const option of options) option.selected = true
  select.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
  select.dispatchEvent(new Event('change', { bubbles: true }))
  const set = options.map(({ value }) => value)
  // Pages restore a selection that they did not accept right after the event, or in the next task.
  await new Promise((resolve) => setTimeout(resolve))
  return { set, shown: select.isConnected ? [...select.selectedOptions].map(({ value }) => value) : null }
}
