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
  if (!('way' in found) || found.way === 'own' || found.way === 'hidden') return element.setChecked(checked, left())
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

/** Selects options by value or label; returns the values of the selected ones, and the names in other widgets. */
export const selectOptions = (context: CommandContext, target: Target, values: readonly string[]): Promise<string[]> =>
  context.act(target, 'editable', (element, limit) => selectIn(context, element, { ...target, values }, limit), {
    mayBeHidden: true,
    options: values,
    direct: async (element) => {
      const indexes = await element.evaluate(findOptions, values)
      if (!indexes) return element.unclear('did not find some options')
      return context.send(() => element.evaluate(setOptions, indexes))
    },
  })

async function selectIn(context: CommandContext, element: Locator, selecting: Selecting, limit: CallLimit) {
  const found = await widgetOf(element, limit)
  const isPlain = found.kind === 'native' || found.kind === 'none'
  if (isPlain) return element.selectOption([...selecting.values], limit)
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

/** Runs in the page: selects options as Playwright does; returns their values. */
function setOptions(node: Element, indexes: readonly number[]): string[] {
  const select = node as HTMLSelectElement
  const options = indexes.map((index) => select.options[index]!)
  // Like Playwright, which first selects none.
  select.selectedIndex = -1
  for (const option of options) option.selected = true
  select.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
  select.dispatchEvent(new Event('change', { bubbles: true }))
  return options.map(({ value }) => value)
}
