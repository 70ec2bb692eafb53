/** Runs in a page: finds the list of options that an element is, contains or stands for. All functions are self-contained. */

/** A `list` always shows its options, a `popup` only while it is open. */
export type WidgetKind = 'native' | 'list' | 'popup' | 'none'

/**
 * Returns the kind of a list of options, and the element of it that has the role: the element, or the one around or inside.
 * For a select element that people do not see, it is the widget that the page shows in its place, if any.
 */
export function findWidget(node: Element): { readonly kind: WidgetKind; readonly element: Element } {
  const element = node instanceof HTMLLabelElement && node.control ? node.control : node
  const popups = '[role=combobox], [aria-haspopup]:not([aria-haspopup=false])'
  const lists =
    '[role=listbox], [role=radiogroup], [role=tablist], [role=menu], [role=menubar], [role=tree], [role=grid]'
  const isSeen = (at: Element) => {
    const { width, height } = at.getBoundingClientRect()
    // Borders are left of an element without a size.
    return width > 4 && height > 4 && at.checkVisibility({ visibilityProperty: true })
  }
  const soleIn = (at: Element | null): Element | null => {
    const found = at ? [...(at.matches(popups) ? [at] : []), ...at.querySelectorAll(popups)].filter(isSeen) : []
    return found[0] && found.every((one) => found[0]!.contains(one)) ? found[0] : null
  }
  if (element instanceof HTMLSelectElement) {
    if (isSeen(element) && getComputedStyle(element).pointerEvents !== 'none') return { kind: 'native', element }
    let shown = soleIn(element.nextElementSibling)
    let around = element.parentElement
    for (let level = 0; !shown && around && level < 3; level += 1, around = around.parentElement) {
      if (around.matches('body, form, fieldset, tr, li') || around.querySelectorAll('select').length > 1) break
      shown = soleIn(around)
    }
    return shown ? { kind: 'popup', element: shown } : { kind: 'native', element }
  }
  const kindOf = (at: Element): WidgetKind =>
    at.matches(popups) || at.matches('input[type=text][readonly], input:not([type])[readonly]')
      ? 'popup'
      : at.matches(lists)
        ? 'list'
        : at instanceof HTMLSelectElement
          ? 'native'
          : 'none'
  if (kindOf(element) !== 'none') return { kind: kindOf(element), element }
  const all = [...element.querySelectorAll(`${popups}, ${lists}, select`)]
  // A widget comes with the select element whose place it takes.
  const inside = all.length > 1 ? all.filter(isSeen) : all
  if (inside.length === 1) return { kind: kindOf(inside[0]!), element: inside[0]! }
  const choices = element.querySelectorAll('input[type=radio], [role=radio], button[aria-pressed]')
  return { kind: inside.length === 0 && choices.length > 1 ? 'list' : 'none', element }
}

/** Returns whether people see and use an element, and no widget in its place; as `findWidget` does for select elements. */
export function isInPlace(node: Node): boolean {
  const { width, height } = (node as Element).getBoundingClientRect()
  // Borders are left of an element without a size.
  const isSeen = width > 4 && height > 4 && (node as Element).checkVisibility({ visibilityProperty: true })
  return isSeen && getComputedStyle(node as Element).pointerEvents !== 'none'
}

/**
 * Returns the select element that keeps the value of a widget: `node`, or the only one in the widget, if people do not
 * see it; null for other widgets.
 */
export function keptIn(widget: Element, node: Element): HTMLSelectElement | null {
  const element = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (element instanceof HTMLSelectElement) return element
  const inside = widget.querySelectorAll('select')
  return inside.length === 1 && !inside[0]!.checkVisibility({ visibilityProperty: true }) ? inside[0]! : null
}

/** Returns whether an option with this label is selected in a select element. */
export const isSelected = (select: HTMLSelectElement, name: string): boolean =>
  [...select.selectedOptions].some(({ label }) => label.replaceAll(/\s+/g, ' ').trim() === name)

/** Returns the labels of options, which are given by label or value. */
export const labelsOf = (select: HTMLSelectElement, values: readonly string[]): string[] => {
  const options = [...select.options].map(({ label, value }) => ({
    label: label.replaceAll(/\s+/g, ' ').trim(),
    value,
  }))
  return values.map((text) =>
    options.some(({ label }) => label === text) ? text : (options.find(({ value }) => value === text)?.label ?? text),
  )
}
