/** Reads the values of fields and editors. */
import type { Locator } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit } from '../../core/operation/command.ts'
import { readEditor } from '../editors/editor-text.ts'

/**
 * Runs in the page: returns the value of a form field, or of a slider or spin button that is none; null for fields that
 * editors keep for keys.
 */
export function valueOf(node: Element): string | string[] | null {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (field instanceof HTMLSelectElement && field.multiple) return [...field.selectedOptions].map(({ value }) => value)
  const isField =
    field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement
  if (isField) return field.closest('.CodeMirror, .monaco-editor') ? null : field.value
  const drawn = '[role=slider][aria-valuenow], [role=spinbutton][aria-valuenow]'
  const [first, second] = field.matches(drawn) ? [field] : field.querySelectorAll(drawn)
  // A group of several is none of them.
  return first && !second && !field.querySelector('input, textarea, select')
    ? first.getAttribute('aria-valuenow')
    : null
}

/** Reads the value of a field or editor. @throws BaxError `action_failed` for an editor that shows a part of its text. */
export async function readValue(
  element: Locator,
  selector: string,
  limit: Pick<CallLimit, 'timeout'>,
): Promise<string | string[]> {
  const { timeout } = limit
  const value = await element.evaluate(valueOf, undefined, { timeout })
  if (value !== null) return value
  const found = await readEditor((work) => element.evaluate(work, undefined, { timeout }))
  // Other fields, and the error for elements without a value.
  if (!found) return element.inputValue(limit)
  if (found.isWhole) return found.text
  throw new BaxError('action_failed', `the text of ${selector} is not known: its editor draws only a part of it`, {
    hint: "read it from the page's editor with evaluate",
    details: { selector },
  })
}
