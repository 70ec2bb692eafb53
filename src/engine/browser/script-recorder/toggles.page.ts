/** Runs in the page: finds the checkbox, radio button or switch that a click on the page sets, however it is drawn. */

import { isInput } from '../elements/node-kinds.page.ts'
import { containers } from './selector-of.page.ts'

/** A control, and its state before the click. */
export interface Toggle {
  readonly control: Element
  readonly was: boolean
}

const controls = 'input[type=checkbox], input[type=radio], [role=switch], [role=checkbox], [role=radio]'
const others = 'a[href], button, input, select, textarea, [role=button], [contenteditable]'
/** Elements around a control that libraries draw in its place. */
const maxLevels = 3

/** Returns the control that a click on an element may set: itself, that of its label, or the one that it belongs to. */
export function toggleOf(pressed: Element): Toggle | undefined {
  const control = directToggle(pressed) ?? besides(pressed)
  return control ? { control, was: isChecked(control) } : undefined
}

/** Returns the control that an element is, is part of, or labels. */
export const directToggle = (pressed: Element): Element | undefined => pressed.closest(controls) ?? labelled(pressed)

/** Returns the name of the action that has set the control; undefined when its state is the same. */
export function toggled({ control, was }: Toggle): 'check' | 'uncheck' | undefined {
  const is = isChecked(control)
  if (is === was || !control.isConnected) return undefined
  return is ? 'check' : 'uncheck'
}

/** Returns the checkbox or radio button of the label around an element. */
function labelled(element: Element): HTMLInputElement | undefined {
  const control = element.closest('label')?.control
  return isInput(control) && control.matches(controls) ? control : undefined
}

function besides(pressed: Element): Element | undefined {
  let at: Element | null = pressed
  for (let level = 0; at && level <= maxLevels && !at.matches(containers); level++) {
    const [first, second] = at.querySelectorAll(controls)
    if (second) return undefined
    if (first) return [...at.querySelectorAll(others)].every((other) => other === first) ? first : undefined
    if (at.matches(others)) return undefined
    at = at.parentElement
  }
  return undefined
}

export const isChecked = (control: Element): boolean =>
  isInput(control) ? control.checked : control.getAttribute('aria-checked') === 'true'
