/** Runs in a page: checks that a field takes a value. */

export type FormValue = string | number | boolean | string[]

/** Kind of a field, or the reason why it does not accept a value. */
interface FieldAnswer {
  readonly kind?: 'text' | 'checkbox' | 'radio' | 'select' | 'slider'
  readonly fault?: string
  /** Whether the text belongs to an editor, which takes it by keys. */
  readonly isEditor?: true
  /** Whether the value is at fault. */
  readonly invalid?: boolean
  /** Whether waiting can help. */
  readonly waits?: boolean
}

/** Checks a field, with `textOnly` one for text. Self-contained: only the text of the function reaches the page. */
export function checkField(node: Node, { value, textOnly }: { value: FormValue; textOnly: boolean }): FieldAnswer {
  const element = (node instanceof HTMLLabelElement && node.control ? node.control : node) as HTMLElement
  const invalid = (fault: string) => ({ fault, invalid: true })
  const shown = JSON.stringify(value).slice(0, 100)
  const { type = '' } = element as HTMLInputElement
  const isNative = element.matches('input:is([type=checkbox i], [type=radio i])')
  const role = element.getAttribute('role') ?? ''
  const check = isNative ? type : ({ checkbox: 'checkbox', switch: 'checkbox', radio: 'radio' }[role] ?? null)
  if (type === 'file') return { fault: 'is a file field: use upload_files' }
  if (textOnly && check) return { fault: `is a ${check === 'radio' ? 'radio button' : check}: use check` }
  if (textOnly && element instanceof HTMLSelectElement) return { fault: 'is a select element: use select_option' }
  if (element.matches(':disabled, [aria-disabled=true], [aria-disabled=true] *'))
    return { fault: 'is disabled', waits: true }
  // A combobox has options, unless its popup is a dialog or a grid, such as a calendar: then it takes text.
  const opens =
    role === 'combobox' ? !['dialog', 'grid'].includes(element.ariaHasPopup ?? '') : element.ariaHasPopup === 'listbox'
  if (!textOnly && (opens || role === 'listbox' || role === 'radiogroup')) {
    if (typeof value === 'boolean') return invalid(`needs the name of an option, not ${shown}`)
    return { kind: 'select' }
  }
  if (role === 'slider' && !(element instanceof HTMLInputElement)) {
    if (String(value).trim() === '' || !Number.isFinite(Number(value))) return invalid(`needs a number, not ${shown}`)
    return { kind: 'slider' }
  }
  if ((element as HTMLInputElement).readOnly) return { fault: 'is read-only', waits: true }
  if (check !== null) {
    if (!['true', 'false'].includes(String(value))) return invalid(`needs true or false, not ${shown}`)
    if (check === 'radio' && String(value) === 'false')
      return invalid('is a radio button and cannot be unchecked: check another one')
    return { kind: check as 'checkbox' }
  }
  if (element instanceof HTMLSelectElement) {
    const list = Array.isArray(value) ? value : [String(value)]
    const options = [...element.options]
    const missing = list.filter((text) => !options.some((option) => option.value === text || option.label === text))
    if (missing.length > 0) {
      const labels = options.slice(0, 20).map((option) => option.label)
      return { ...invalid(`has no option ${missing.join(', ')}; it has: ${labels.join(', ')}`), waits: true }
    }
    return list.length > 1 && !element.multiple ? invalid(`takes one option, not ${list.length}`) : { kind: 'select' }
  }
  if (Array.isArray(value) || typeof value === 'boolean') return invalid(`needs a text, not ${shown}`)
  const code = '.CodeMirror, .monaco-editor, .ace_editor'
  const css = element.matches('form, body') ? code : `${code}, [contenteditable]:not([contenteditable=false])`
  if (element.isContentEditable || (element.closest(code) ?? element.querySelector(css)))
    return { kind: 'text', isEditor: true }
  if (!element.matches('input, textarea')) return { fault: 'does not take text' }
  if (['button', 'submit', 'reset', 'image', 'hidden'].includes(type))
    return { fault: `does not take text: it is of type ${type}` }
  const text = String(value)
  const { maxLength: most } = element as HTMLInputElement
  if (most >= 0 && text.length > most)
    return invalid(`takes at most ${most} characters, and the text has ${text.length}`)
  // Browsers reject values of the wrong type, such as letters in numbers, and line breaks in a line.
  if (element instanceof HTMLInputElement && text !== '') {
    const probe = element.cloneNode() as HTMLInputElement
    probe.value = text
    if (probe.value.trim().toLowerCase() !== text.trim().toLowerCase())
      return invalid(`does not take ${shown}: it is of type ${type}`)
  }
  return { kind: 'text' }
}
