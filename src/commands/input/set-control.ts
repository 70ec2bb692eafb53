/** Sets checkboxes, radio buttons and select elements, for single fields and for forms. */
import type { CommandContext } from '../../core/operation/command.ts'

interface Target {
  readonly selector: string
  readonly timeout_ms?: number | undefined
}

export const setChecked = ({ act }: CommandContext, target: Target, checked: boolean): Promise<void> =>
  act(target, 'pointer', (element, limit) => element.setChecked(checked, limit), {
    enabled: true,
    direct: (element) => element.setChecked(checked),
  })

/** Selects options by value or label; returns the values of the selected ones. */
export const selectOptions = (
  { act, send }: CommandContext,
  target: Target,
  values: readonly string[],
): Promise<string[]> =>
  act(target, 'editable', (element, limit) => element.selectOption([...values], limit), {
    options: values,
    direct: async (element) => {
      const indexes = await element.evaluate(findOptions, values)
      if (!indexes) return element.unclear('did not find some options')
      return send(() => element.evaluate(setOptions, indexes))
    },
  })

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
