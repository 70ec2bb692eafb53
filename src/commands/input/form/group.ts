/** Groups of fields that share a label: checkboxes, radio buttons, sliders, and texts such as the digits of a code. */
import type { FormValue } from '../check-field.ts'

export interface FieldGroup {
  readonly kind: 'checkbox' | 'radio' | 'slider' | 'text' | 'mixed'
  readonly parts: Element[]
  /** Labels of the parts. */
  readonly names: string[]
  /** Whether each part is a text field for one character. */
  readonly isCode: boolean
}

/** Runs in a page: finds the fields in an element. Self-contained: only the text of the function reaches the page. */
export function groupOf(node: Element): FieldGroup {
  const texts = 'input:not([type=hidden]), textarea, select, [contenteditable=true]'
  const css = `${texts}, button, ${['slider', 'radio', 'checkbox', 'switch', 'combobox', 'button'].map((role) => `[role=${role}]`).join(', ')}`
  const isSlider = (at: Element) => at.matches('[role=slider], input[type=range]')
  const isCheck = (at: Element) => at.matches('input[type=checkbox], [role=checkbox], [role=switch]')
  const isRadio = (at: Element) => at.matches('input[type=radio], [role=radio]')
  const isButton = (at: Element) => at.matches('button, [role=button]') && !isCheck(at) && !isRadio(at)
  const isText = (at: Element) => at instanceof HTMLInputElement && !isSlider(at) && !isCheck(at) && !isRadio(at)
  let parts = [...(node.matches(css) ? [node] : []), ...node.querySelectorAll(css)].filter((at) => {
    const around = at.parentElement?.closest(css)
    const isInner = around && around !== node && node.contains(around)
    const isReplaced = at instanceof HTMLSelectElement && !at.checkVisibility({ visibilityProperty: true })
    return !isInner && !isReplaced && !(isButton(at) && at.closest('label'))
  })
  // Sliders and lists of buttons keep their values in inputs that nobody uses.
  if (parts.some(isSlider)) parts = parts.filter((at) => isSlider(at) || !at.matches('input[tabindex="-1"]'))
  const nameOf = (at: Element) => {
    const label = (at as HTMLInputElement).labels?.[0]
    const shown = (label ?? (at as HTMLElement)).innerText ?? ''
    return (at.getAttribute('aria-label') || shown).replaceAll(/\s+/g, ' ').trim()
  }
  const names = parts.map(nameOf)
  const are = (test: (at: Element) => boolean) => parts.length > 0 && parts.every(test)
  const isChoice = are(isButton) && parts.every((at) => at.parentElement === parts[0]!.parentElement)
  const isMany = parts.length > 1
  const isNarrow = ({ maxLength, size, offsetWidth, offsetHeight }: HTMLInputElement) =>
    maxLength === 1 || size === 1 || offsetWidth <= 2 * offsetHeight
  const isCode = isMany && are((at) => isText(at) && isNarrow(at as HTMLInputElement))
  const found = { parts, names, isCode }
  if (are(isSlider)) return { kind: 'slider', ...found }
  if (are(isCheck)) return { kind: 'checkbox', ...found }
  if (isMany && (are(isRadio) || isChoice)) return { kind: 'radio', ...found }
  if (are(isText)) return { kind: 'text', ...found }
  return { kind: 'mixed', ...found }
}

/**
 * Runs in a page: returns how many levels above the first of several fields with the same label their group is: the ends of
 * a range, or radio buttons of the same name; null for others.
 */
export function levelsAround(nodes: readonly Element[]): number | null {
  const sliders = '[role=slider], input[type=range]'
  const [first] = nodes as HTMLInputElement[]
  const isRange = nodes.every((node) => node.matches(sliders))
  const radios = `input[type=radio][name="${CSS.escape(first!.name ?? '')}"]`
  const isChoice = !!first!.name && nodes.every((node) => node.matches(radios))
  const css = isRange ? sliders : radios
  const all = isRange ? nodes : [...(first!.form ?? document).querySelectorAll(radios)]
  let level = 1
  let around = first!.parentElement
  for (; around && !all.every((node) => around!.contains(node)); around = around.parentElement) level += 1
  const isWhole = around !== null && around.querySelectorAll(css).length === all.length
  return (isRange || isChoice) && isWhole ? level : null
}

/** Returns the kind of value that a group takes, or why it does not take this one. */
export function checkGroup(
  { kind, names, isCode }: Omit<FieldGroup, 'parts'>,
  value: FormValue,
): { readonly kind?: 'text' | 'checkbox' | 'select' | 'slider'; readonly fault?: string; readonly invalid?: true } {
  const invalid = (fault: string) => ({ fault, invalid: true as const })
  const shown = JSON.stringify(value).slice(0, 100)
  const list = [value].flat().map(String)
  if (kind === 'checkbox') {
    if (names.length === 1 && typeof value === 'boolean') return { kind }
    const missing = list.filter((name) => !names.includes(name))
    if (missing.length === 0) return { kind }
    return invalid(`has no checkbox ${missing.join(', ')}; it has: ${names.join(', ')}`)
  }
  if (kind === 'radio')
    return typeof value === 'boolean' ? invalid(`needs the name of an option, not ${shown}`) : { kind: 'select' }
  if (kind === 'slider') {
    const isRange =
      list.length === names.length && list.every((one) => one.trim() !== '' && Number.isFinite(Number(one)))
    return isRange
      ? { kind }
      : invalid(`needs ${names.length === 1 ? 'a number' : `${names.length} numbers`}, not ${shown}`)
  }
  if (kind === 'text') {
    if (list.length === names.length) return { kind }
    if (isCode && !Array.isArray(value) && String(value).length === names.length) return { kind }
    return invalid(`needs ${names.length} values${isCode ? ', or as many characters' : ''}, not ${shown}`)
  }
  const inside = names.filter(Boolean).slice(0, 20).join(', ')
  if (names.length === 1) return { fault: `is the button ${inside}: use click, or select_option for a menu` }
  return { fault: `contains several fields${inside && ` (${inside})`}: set each by its own label or selector` }
}
