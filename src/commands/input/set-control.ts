/** Sets checkboxes, radio buttons and select elements, for single fields and for forms. */
import type { ElementHandle, Locator } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext, Point } from '../../core/operation/command.ts'
import { checkPart } from './check-part.ts'
import { isInPlace } from './form/find-widget.ts'
import { findOptions, setHiddenSelect, setOptions } from './form/native-options.ts'
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
      const indexes = (await element.evaluate(isInPlace, null)) ? await element.evaluate(findOptions, values) : null
      if (!indexes) return element.unclear('did not find some options, or a widget has taken the place of the element')
      const { set, shown } = await context.send(() => element.evaluate(setOptions, indexes))
      return kept(target.selector, set, shown)
    },
  })

async function selectIn(context: CommandContext, element: Locator, selecting: Selecting, limit: CallLimit) {
  const found = await widgetOf(element, limit)
  if (found.select) {
    const set = await setHiddenSelect(context, found.select, found.widget, selecting.values)
    if (set) return set
  }
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
