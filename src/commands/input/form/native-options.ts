/** Options of select elements, also of those whose place a widget has taken. */
import type { ElementHandle } from 'playwright'
import type { CommandContext } from '../../../core/operation/command.ts'
import { containsName } from './shown-name.ts'

/** Time for a widget to show what was selected in its select element, in milliseconds. */
const shownMs = 500

/**
 * Selects options in a select element that people do not see, as its widget does; returns the values. When the widget does
 * not show them, the select element gets its selection back, and the options have to be chosen in the widget: null.
 */
export async function setHiddenSelect(
  { send, poll }: CommandContext,
  select: ElementHandle<HTMLSelectElement>,
  widget: ElementHandle<Element>,
  values: readonly string[],
): Promise<string[] | null> {
  const indexes = await select.evaluate(findOptions, values)
  if (!indexes) return null
  const before = await select.evaluate(selectedIn)
  const { set } = await send(() => select.evaluate(setOptions, indexes))
  const now = await select.evaluate(selectedIn).catch(() => null)
  // The choice may have led to another page.
  if (!now) return set
  const isKept = indexes.every((index) => now.some((one) => one.index === index))
  const touched = [...before, ...now].filter(({ label }) => label !== '')
  const isShown = async () => {
    const texts = await widget.evaluate(textsOf).catch(() => null)
    const isRight = ({ label }: Selected) => containsName(label, texts!) === now.some((one) => one.label === label)
    return { met: !texts || touched.every(isRight) }
  }
  if (isKept && (await poll(isShown, shownMs)).met) return set
  await send(() =>
    select.evaluate(
      setOptions,
      before.map(({ index }) => index),
    ),
  )
  return null
}

interface Selected {
  readonly index: number
  readonly label: string
}

/** Runs in the page: returns the selected options. */
const selectedIn = (select: HTMLSelectElement): Selected[] =>
  [...select.selectedOptions].map(({ index, label }) => ({ index, label: label.replaceAll(/\s+/g, ' ').trim() }))

/** Runs in the page: returns the texts that a widget shows, without those of the select element inside it. */
function textsOf(widget: Element): string[] {
  const parts = [widget, ...widget.querySelectorAll('*')].filter(
    (at) => !at.closest('select') && at.checkVisibility({ visibilityProperty: true }),
  )
  const own = (at: Element) => [...at.childNodes].flatMap((node) => (node instanceof Text ? node.data : []))
  return parts.flatMap((at) => (at instanceof HTMLInputElement ? [at.value] : [own(at).join('')]))
}

/**
 * Runs in the page: returns the indexes of the options, in the order of Playwright; null when one is missing or disabled.
 * Self-contained: only the text of the function reaches the page.
 */
export function findOptions(node: Element, values: readonly string[]): number[] | null {
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

/** Runs in the page: selects options as Playwright does; returns their values, and those that the page shows then. */
export async function setOptions(
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
