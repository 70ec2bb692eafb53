/** Runs in a page: checks that a field takes a value. */

export type FormValue = string | number | boolean | (string | number)[]

/** Kind of a field, or the reason why it does not accept a value. */
interface FieldAnswer {
  readonly kind?: 'text' | 'checkbox' | 'radio' | 'select' | 'slider'
  readonly fault?: string
  /** Whether the text belongs to an editor, which takes it by keys. */
  readonly isEditor?: true
  /** Whether it is a number field of a library. */
  readonly isNumber?: true
  /** Whether the value is at fault. */
  readonly invalid?: boolean
  /** Set when waiting can help; `briefly` when the field mostly changes only after another action. */
  readonly waits?: 'briefly' | true
}

/** Checks a field, with `textOnly` one for text. Self-contained: only the text of the function reaches the page. */
export function checkField(node: Node, { value, textOnly }: { value: FormValue; textOnly: boolean }): FieldAnswer {
  const element = (node instanceof HTMLLabelElement && node.control ? node.control : node) as HTMLElement
  const invalid = (fault: string) => ({ fault, invalid: true })
  const [text, shown] = [String(value), JSON.stringify(value).slice(0, 100)]
  const { type = '', readOnly, maxLength: most } = element as HTMLInputElement
  const isNative = element.matches('input:is([type=checkbox i], [type=radio i])')
  const role = element.getAttribute('role') ?? ''
  const check = isNative ? type : ({ checkbox: 'checkbox', switch: 'checkbox', radio: 'radio' }[role] ?? null)
  if (type === 'file') return { fault: 'is a file field: use upload_files' }
  if (textOnly && check) return { fault: `is a ${check === 'radio' ? 'radio button' : check}: use check` }
  if (textOnly && element instanceof HTMLSelectElement) return { fault: 'is a select element: use select_option' }
  if (element.matches(':disabled, [aria-disabled=true], [aria-disabled=true] *'))
    return { fault: 'is disabled', waits: 'briefly' }
  // A combobox has options, unless it has lines, or its popup is a dialog or grid, such as a calendar: then it takes text.
  const takesText = 'textarea, [aria-haspopup=dialog], [aria-haspopup=grid]'
  const opens = role === 'combobox' ? !element.matches(takesText) : element.ariaHasPopup === 'listbox'
  if (!textOnly && (opens || ['listbox', 'radiogroup', 'tree'].includes(role))) {
    const isNothing = [value].flat().length === 0 && element.ariaMultiSelectable !== 'true'
    if (isNothing) return invalid('needs at least one option: those that are chosen stay; click them to remove them')
    return typeof value === 'boolean' ? invalid(`needs the name of an option, not ${shown}`) : { kind: 'select' }
  }
  const isNumber = text.trim() !== '' && Number.isFinite(Number(value))
  if (role === 'slider' && !(element instanceof HTMLInputElement))
    return isNumber ? { kind: 'slider' } : invalid(`needs a number, not ${shown}`)
  const isLine = element instanceof HTMLInputElement && type === 'text'
  const isPathOfOptions = isLine && Array.isArray(value) && !/^\d{4}-\d\d/.test(String(value))
  if (readOnly) return isPathOfOptions ? { kind: 'select' } : { fault: 'is read-only', waits: 'briefly' }
  if (check !== null) {
    if (!['true', 'false'].includes(String(value))) return invalid(`needs true or false, not ${shown}`)
    const isCleared = check === 'radio' && String(value) === 'false'
    if (isCleared) return invalid('is a radio button and cannot be unchecked: check another one')
    return { kind: check as 'checkbox' }
  }
  if (element instanceof HTMLSelectElement) {
    const [list, options] = [[value].flat().map(String), [...element.options]]
    const missing = list.filter((text) => !options.some((one) => one.value === text || one.label === text))
    const labels = options.slice(0, 20).map(({ label }) => label)
    const fault = `has no option ${missing.join(', ')}; it has: ${labels.join(', ')}`
    if (missing.length > 0) return { ...invalid(fault), waits: true }
    if (list.length > 1 && !element.multiple) return invalid(`takes one option, not ${list.length}`)
    return { kind: 'select' }
  }
  if (isLine && Array.isArray(value)) return { kind: 'text' }
  if (Array.isArray(value) || typeof value === 'boolean') return invalid(`needs a text, not ${shown}`)
  const code = '.CodeMirror, .monaco-editor, .ace_editor'
  const css = element.matches('form, body') ? code : `${code}, [contenteditable]:not([contenteditable=false])`
  if (element.isContentEditable || (element.closest(code) ?? element.querySelector(css)))
    return { kind: 'text', isEditor: true }
  if (!element.matches('input, textarea')) return { fault: 'does not take text' }
  const buttons = ['button', 'submit', 'reset', 'image', 'hidden']
  if (buttons.includes(type)) return { fault: `does not take text: it is of type ${type}` }
  const excess = most >= 0 && text.length > most
  if (excess) return invalid(`takes at most ${most} characters, and the text has ${text.length}`)
  // Browsers reject values of the wrong type, such as letters in numbers, and line breaks in a line.
  if (element instanceof HTMLInputElement && text !== '') {
    const probe = Object.assign(element.cloneNode() as HTMLInputElement, { value: text })
    if (probe.value.trim().toLowerCase() !== text.trim().toLowerCase())
      return invalid(`does not take ${shown}: it is of type ${type}`)
  }
  const numbers = 'input:is([role=spinbutton], [inputmode=decimal]:not([type=number]))'
  return { kind: 'text', ...(node === element && element.matches(numbers) && { isNumber: true }) }
}
